import { CommanderError, type Command } from 'commander';
import package_ from '../../package.json' with { type: 'json' };
import { escapeText } from '../report/escape.ts';
import type { Run } from '../report/make-report.ts';
import type { CompletionHandlers } from './add-completion.ts';
import type { SchemaHandlers } from './add-schema.ts';
import { forLog } from './for-log.ts';
import type { Host } from './host.ts';
import { makeProgram, type Handlers, type Streams } from './program.ts';
import type * as running from './running.ts';
import { hidingHost } from './secrets.ts';
import type * as works from './works.ts';

/** Loaded only once a command was understood: `--help` needs none of it. */
type Running = typeof running;
type Works = typeof works;
type OnCall = running.OnCall;

/** Runs one command line and resolves to its exit code. Never throws. */
export async function main(given: Host): Promise<number> {
  const host = hidingHost(given);
  let exitCode = 0;
  const finish = async (start: (running: Running) => Promise<number>): Promise<void> => {
    exitCode = await start(await import('./running.ts'));
  };
  const report = (
    mode: Run['mode'],
    flags: running.ReportFlags,
    workWith: (works: Works, onCall: OnCall) => works.Work,
  ) =>
    finish(async ({ callWriter, runReporting }) => {
      const work = workWith(await import('./works.ts'), callWriter(flags, host));
      return runReporting(mode, flags, host, work);
    });
  const handlers: Handlers = {
    sync: (flags) => finish(({ runSync }) => runSync(flags, host)),
    validate: (flags) => report('validate', flags, ({ validateWith }) => validateWith(flags)),
    status: (flags) => report('status', flags, ({ statusWith }, onCall) => statusWith(flags, onCall)),
    init: (flags) => report('init', flags, ({ initWith }, onCall) => initWith(flags, onCall)),
    import: (ids, flags) => report('import', flags, ({ importWith }, onCall) => importWith(ids, flags, onCall)),
    promote: (keys, flags) => report('promote', flags, ({ promoteWith }, onCall) => promoteWith(keys, flags, onCall)),
    rollback: (key, flags) => report('rollback', flags, ({ rollbackWith }, onCall) => rollbackWith(key, flags, onCall)),
    pull: (keys, flags) => report('pull', flags, ({ pullWith }, onCall) => pullWith(keys, flags, onCall)),
    history: (key, flags) => report('history', flags, ({ historyWith }, onCall) => historyWith(key, flags, onCall)),
    serve: (flags) => finish(async () => (await import('./run-serve.ts')).runServe(flags, host)),
    ...editorHandlers(host, () => makeProgram(handlers, streamsOf(host), package_.version)),
  };
  try {
    const program = makeProgram(handlers, streamsOf(host), package_.version, host.arguments);
    await program.parseAsync([...host.arguments], { from: 'user' });
    return exitCode;
  } catch (error) {
    // What was asked for, such as a help, ends in an error as well.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { fail } = await import('./fail.ts');
    return fail(error, host);
  }
}

/** Somebody waits with the key pressed: nothing is loaded that is not needed. */
function editorHandlers(host: Host, program: () => Command): CompletionHandlers & SchemaHandlers {
  return {
    schema: async (name) => (await import('./print-schema.ts')).printSchema(name, host),
    completion: async (shell) => (await import('./completing/scripts.ts')).printScript(shell, host),
    complete: async (question) => (await import('./completing/run-complete.ts')).runComplete(question, program(), host),
  };
}

function streamsOf(host: Host): Streams {
  return {
    out: (text) => void host.output.write(text),
    // What was typed is quoted in there, and a workflow may have typed what somebody else said.
    err: (text) => void host.errors.write(forLog(escapeText(text), host)),
  };
}
