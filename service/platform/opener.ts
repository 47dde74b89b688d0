/** When a function builds its clients: at its first event, so that an import reads no environment. */

/**
 * Opens the services of one request, whose time begins now. The clients behind them are the function's own.
 */
export type OpenServices<Services> = () => Services;

/** What an opener gives each request. */
export type ServicesOf<Opener extends (on: never) => OpenServices<unknown>> = ReturnType<ReturnType<Opener>>;

/** For an operation of the API: builds the clients once, and opens the services of each request. */
export function atFirstRequest<Services>(build: () => OpenServices<Services>): OpenServices<Services> {
  const opener = once(build);
  return () => opener()();
}

/** Calls `build` at the first call, and returns the same value from then on. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => (built ??= { value: build() }).value;
}
