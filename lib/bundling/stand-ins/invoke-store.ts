/**
 * In the bundles, @aws/lambda-invoke-store. It tells apart the invocations that one environment runs at once. An
 * environment of Lambda runs one at a time, so the SDK finds the id of the trace in the environment.
 */
export const InvokeStore = { getInstanceAsync: (): Promise<undefined> => Promise.resolve(undefined) };
