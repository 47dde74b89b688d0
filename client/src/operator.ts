/** `darkroom-client/operator`: the operator API, for the back end of an operator. */
export { DarkroomOperator, type OperatorOptions } from './operator/darkroom-operator.ts';
export * from './errors.ts';
export type { Retry } from './http/retry.ts';
export type { ApiPromise, CallOptions, PostOptions } from './http/call.ts';
export type { Page, Pages } from './pages.ts';
export type { Call, Calls } from './operator/calls.ts';
export type * from './types/operator.ts';
