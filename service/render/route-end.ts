/** How an attempt at a route ends, before anything follows from it. */
import type { ProviderAnswer, Rendered } from '../vendors/provider.ts';

/** A picture that does not show what the request asked for (honoured.ts). */
export interface NotHonoured extends Omit<Rendered, 'kind'> {
  readonly kind: 'not_honoured';
  readonly detail: string;
}

/** 'no_answer': the time of the route ended before the provider did. */
export type RouteEnd =
  | Exclude<ProviderAnswer, { kind: 'pending' }>
  | NotHonoured
  | { readonly kind: 'no_answer' };
