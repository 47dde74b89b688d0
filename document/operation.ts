/** What the document says of one operation, beside method and path, which core/contract.ts says. */
import type * as z from 'zod';
import type { operations, OperationName } from '../core/contract.ts';
import type { TagName } from './introduction.ts';
import type { Answers } from './responses.ts';

export interface Documentation {
  readonly tag: TagName;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  readonly query: Readonly<Record<string, z.ZodType>>;
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  readonly body?: {
    readonly schema: z.ZodType;
    /** By name. The service accepts each (test/docs/api-examples.test.ts). */
    readonly examples: Readonly<Record<string, object>>;
  };
  readonly answers: Answers;
}

/** The documentation of an operation has exactly the query parameters of the contract. */
export interface Documented<Name extends OperationName> extends Documentation {
  readonly query: { readonly [Parameter in (typeof operations)[Name]['query'][number]]: z.ZodType };
}
