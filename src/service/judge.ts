import { ServiceError } from '../domain/prompt-service.ts';
import { InvalidAnswer } from './answers.ts';
import type { Call } from './calls.ts';
import { brokenError, invalidAnswerError, isTransientBreak, isTransientStatus, statusError } from './errors.ts';
import { ANSWER_LIMIT, type Answered, type Exchange } from './http.ts';
import { makeExcerpt, makeRedact } from '../domain/redact.ts';
import type { Attempt } from './retry.ts';

export type Judging = { readonly origin: string; readonly seconds: number; readonly apiKey: string };

/** Makes of one exchange the call's answer, or the failure with its name, its effect and whether to repeat it. */
export function judge<Answer>(call: Call<Answer>, exchange: Exchange, judging: Judging): Attempt<Answer> {
  const { origin, seconds, apiKey } = judging;
  if (exchange.kind === 'broken') {
    const error = brokenError({ ...exchange, origin, seconds }, ANSWER_LIMIT);
    const transient = isTransientBreak(exchange.how);
    return { ok: false, error, repeat: transient && (!call.once || error.effect === 'not-sent'), retryAfter: null };
  }
  const { status, retryAfter } = exchange;
  if (status >= 200 && status < 300) return judgeAnswer(call, exchange, apiKey);
  const error = statusError(status, saidIn(exchange, apiKey), call);
  return { ok: false, error, repeat: call.once ? status === 429 : isTransientStatus(status), retryAfter };
}

function judgeAnswer<Answer>(call: Call<Answer>, answered: Answered, apiKey: string): Attempt<Answer> {
  try {
    if (isEncoded(answered)) throw new InvalidAnswer('it is compressed, which was not asked for');
    return { ok: true, value: call.parse(answered.body) };
  } catch (error) {
    return { ok: false, error: nameFailure(error, apiKey), repeat: false, retryAfter: null };
  }
}

function nameFailure(error: unknown, apiKey: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof InvalidAnswer) return invalidAnswerError(makeRedact(apiKey)(error.message));
  throw error;
}

function saidIn(answered: Answered, apiKey: string): string {
  return isEncoded(answered) ? '' : makeExcerpt(Buffer.from(answered.body).toString('utf8'), answered.whole, apiKey);
}

function isEncoded({ encoding }: Answered): boolean {
  return encoding !== null && encoding.trim().toLowerCase() !== 'identity';
}
