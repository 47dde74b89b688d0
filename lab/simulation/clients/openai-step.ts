/** The step of a program that uses an openai library. */

/**
 * What happens to a try between the client and the function. `lost`: the request never arrives. `late`: it arrives
 * after the client has given up. `cut`: the connection breaks while the function works on. `unheard`: the function
 * answers, and nobody hears it.
 */
export type TryFate = 'whole' | 'lost' | 'late' | 'cut' | 'unheard';

/** Equal calls of one program: the same key and the same body. The library repeats each of them by itself. */
export interface OpenaiCalls {
  readonly kind: 'openai';
  /** Milliseconds from the start of the scenario. */
  readonly at: number;
  readonly account: number;
  readonly key: number;
  /** Stands in the body, so that each step has a body of its own. */
  readonly name: string;
  readonly calls: number;
  /** Milliseconds between the beginnings of two calls. 0: all begin at once. */
  readonly apart: number;
  /** Pictures of each call. */
  readonly count: number;
  readonly model: string;
  readonly directives: string;
  readonly form: 'b64_json' | 'url' | 'stream';
  readonly user?: string;
  /** The probability that something happens to a try. */
  readonly trouble: number;
}
