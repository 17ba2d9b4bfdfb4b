import type { Dispatcher } from 'undici';

/** undici starts a request right before it writes its first byte: until then, nothing was sent. */
export function notingStart(dispatcher: Dispatcher, onStart: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, withStart(handler, onStart)));
}

/** undici heeds the signal once a request has a connection; one that never gets any must end as well. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return Promise.race([promise, aborted]);
}

function withStart(handler: Dispatcher.DispatchHandler, onStart: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      onStart();
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...error) => handler.onResponseError?.(...error),
  };
}
