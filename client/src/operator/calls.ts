/** Makes the methods of a part of the operator API, and their types, from the table of operations. */
import { DarkroomError } from '../errors.ts';
import { apiPromise, type ApiPromise, type CallOptions, type PostOptions } from '../http/call.ts';
import type { Query, Transport } from '../http/transport.ts';
import { type Page, type Pages, pagesOf } from '../pages.ts';
import type { Operations } from '../types/operator.ts';
import { type Operation, operations } from './operations.ts';

type Ids<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name extends 'account'
    ? [account: string, ...Ids<Rest>]
    : Name extends 'key'
      ? [key: string, ...Ids<Rest>]
      : [payment: string, ...Ids<Rest>]
  : [];

type Answer<Named> = Named extends { gives: infer Gives } ? Gives : never;
type ItemOf<Named> = Answer<Named> extends { data: readonly (infer Item)[] } ? Item : never;
/** An argument can be left out when none of its fields is required. */
type Input<Named> = Named extends { takes: infer Takes }
  ? object extends Takes
    ? [input?: Takes]
    : [input: Takes]
  : never;

type CallOf<Named, Given extends readonly unknown[], Options, Shape> = Shape extends ['pages']
  ? (...given: [...Given, ...Input<Named>, options?: Options]) => Pages<ItemOf<Named>>
  : Shape extends ['rows']
    ? (options?: Options) => ApiPromise<readonly ItemOf<Named>[]>
    : Shape extends []
      ? (...given: [...Given, options?: Options]) => ApiPromise<Answer<Named>>
      : (...given: [...Given, ...Input<Named>, options?: Options]) => ApiPromise<Answer<Named>>;

/** The method of an operation. */
export type Call<Row extends Operation> = Row extends readonly [
  infer Method extends string,
  infer Path extends string,
  ...infer Shape,
]
  ? CallOf<
      Operations[`${Method} ${Path}` & keyof Operations],
      Ids<Path>,
      Method extends 'POST' ? PostOptions : CallOptions,
      Shape
    >
  : never;

type Table = typeof operations;

/** The methods of one part, such as `accounts`. */
export type Calls<Part extends keyof Table> = {
  readonly [Name in keyof Table[Part]]: Table[Part][Name] extends Operation ? Call<Table[Part][Name]> : never;
};

/** @internal */
export function callsOf<Part extends keyof Table>(part: Part, transport: Transport): Calls<Part> {
  const calls = Object.entries<Operation>(operations[part]).map(([name, row]) => [
    name,
    callOf(row, transport),
  ]);
  return Object.fromEntries(calls) as Calls<Part>;
}

function callOf([method, path, shape]: Operation, transport: Transport): (...given: unknown[]) => unknown {
  return (...given) => {
    const place = path.replace(/\{(\w+)\}/g, (_step, name: string) => idIn(given.shift(), name));
    const input = shape === undefined || shape === 'rows' ? undefined : ((given.shift() ?? {}) as Query);
    const options = given.shift() as PostOptions | undefined;
    const isBody = shape === 'body';
    const call = { method, path: place, ...(isBody ? { body: input } : { query: input }), options };
    if (shape === 'pages')
      return pagesOf((cursor) =>
        transport.call<Page<unknown>>({ ...call, query: { ...input, cursor: cursor ?? input?.['cursor'] } }),
      );
    if (shape !== 'rows') return transport.call(call);
    const answered = transport.answer<{ data: readonly unknown[] }>(call);
    return apiPromise(answered.then(({ value, response }) => ({ value: value.data, response })));
  };
}

/** A segment of dots would lead to another path, also when the dots are encoded. */
function idIn(id: unknown, name: string): string {
  if (typeof id === 'string' && !/^\.*$/.test(id)) return encodeURIComponent(id);
  throw new DarkroomError(`${JSON.stringify(id)} is no id: the call needs the id of the ${name}.`);
}
