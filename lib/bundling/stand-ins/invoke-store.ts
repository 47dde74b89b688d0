/**
 * In the bundles, @aws/lambda-invoke-store, which separates concurrent invocations of one environment. Here
 * an environment of Lambda runs one invocation at a time, so the SDK reads the id of the trace from the
 * environment.
 */
export const InvokeStore = { getInstanceAsync: (): Promise<undefined> => Promise.resolve(undefined) };
