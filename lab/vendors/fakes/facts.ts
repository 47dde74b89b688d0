/**
 * What each fake states about its vendor. Types ask every fake for every way to fail, and for every field
 * that only some vendors honour. test/vendors/whole/ways.test.ts compares the ways with the rows, and runs
 * what no row can show. test/vendors/whole/honoured.test.ts compares the fields with the catalog, and reads
 * at the fakes what came.
 */
import type { Route } from '../../../service/catalog/catalog-schema.ts';
import { mostNegativePrompt, rendersTransparent, takesMask } from '../../../service/catalog/catalog.ts';
import { tiers } from '../../../service/contract/request-fields.ts';
import type { FakeVendor, Paint, VendorRow } from './fake-vendor.ts';

export interface Fake {
  readonly start: (paint?: Paint) => Promise<FakeVendor>;
  readonly rows: readonly VendorRow[];
  /** The only credential that the fake accepts. Undefined: the provider signs its requests instead. */
  readonly key?: string;
  /** The model of the catalog that the tests request from this vendor. */
  readonly model: string;
  readonly ways: Ways;
  readonly honours: Honours;
}

/** How a creation ends whose only vendor fails so. */
export const waysToFail = {
  'refused prompt': ['PromptRejected'],
  'refused source': ['SourceImageRejected'],
  throttled: ['ServiceUnavailable'],
  'throttled with Retry-After': ['ServiceUnavailable'],
  down: ['ServiceUnavailable'],
  'broken in the middle': ['InternalFailure'],
  'wrong key': ['ServiceUnavailable'],
  'out of credit': ['ServiceUnavailable'],
  'failed at the vendor': ['GenerationFailed', 'InternalFailure'],
  'unknown answer': ['InternalFailure'],
  'moved elsewhere': ['InternalFailure'],
  'no picture': ['NothingRendered'],
  'empty picture': ['NothingRendered'],
  'wrong type': ['InternalFailure'],
  'timed out at the vendor': ['GenerationTimedOut'],
  'stopped at the vendor': ['GenerationTimedOut'],
  'job lost': ['InternalFailure', 'GenerationTimedOut'],
  'poll broken': ['completed'],
  'download broken': ['completed'],
} as const satisfies Readonly<Record<string, readonly VendorRow['ends'][]>>;
export type Way = keyof typeof waysToFail;

/** A row of the vendor's table, or why the vendor cannot fail in this way. */
type Shown = string | { readonly cannot: string };
export type Ways = Readonly<Record<Way, Shown>>;

const inOneCall: Shown = { cannot: 'The vendor answers with the picture: there is no job and no download.' };
const noJob: Shown = { cannot: 'The vendor answers in one call: there is no job.' };
export const noSources: Shown = { cannot: 'No route of the vendor takes source images.' };
export const noTimeLimit: Shown = {
  cannot: 'The vendor tells no time limit of its own. Our deadline ends the call.',
};
export const noStop: Shown = { cannot: 'The vendor has no call that stops a job.' };
const byRow = 'throttled-for-a-second';

/** What most vendors that answer in one call share, and all servers of the common shape. */
export const commonShape = {
  'throttled with Retry-After': byRow,
  'stopped at the vendor': noJob,
  'job lost': noJob,
  'poll broken': inOneCall,
  'download broken': inOneCall,
  throttled: 'throttled',
  'wrong key': 'key-refused',
  down: 'down',
  'broken in the middle': 'break',
  'out of credit': 'payment',
  'failed at the vendor': 'error',
  'unknown answer': 'unknown-shape',
  'moved elsewhere': 'redirect',
  'no picture': 'empty',
  'empty picture': 'empty-picture',
  'wrong type': 'no-picture',
  'timed out at the vendor': noTimeLimit,
} as const satisfies Partial<Record<Way, Shown>>;

/** What the vendors with jobs share. */
export const withJobs = {
  throttled: 'throttled',
  'throttled with Retry-After': byRow,
  down: 'down',
  'broken in the middle': 'break',
  'wrong key': 'unauthorized',
  'unknown answer': 'unknown-shape',
  'empty picture': 'empty-picture',
  'wrong type': 'page',
  'poll broken': 'poll-broke',
  'download broken': 'download-broke',
} as const satisfies Partial<Record<Way, Shown>>;

export const rareFields = ['negative_prompt', 'quality', 'background', 'mask_url'] as const;
export type RareName = (typeof rareFields)[number];

/** Whether the catalog offers the field at the route. */
export const isOffered: Readonly<Record<RareName, (route: Route) => boolean>> = {
  negative_prompt: (route) => mostNegativePrompt([route]) > 0,
  quality: ({ quality, qualities = [] }) =>
    tiers.some((tier) => tier === quality || qualities.includes(tier)),
  background: (route) => rendersTransparent([route]),
  mask_url: (route) => takesMask([route]),
};

/** Why no route of the provider is offered for the field. */
export type Honoured = 'honoured' | { readonly refused: string };
export type Honours = Readonly<Record<RareName, Honoured>>;

/** What most vendors do. */
export const plainFields = {
  negative_prompt: { refused: 'The pages of the vendor name no such field for the models that are sold.' },
  quality: { refused: 'Each model that is sold has one quality, and the request no field for it.' },
  background: {
    refused: 'The pages of the vendor name no field for the background of the models that are sold.',
  },
  mask_url: { refused: 'The pages of the vendor name no mask for the models that are sold.' },
} as const satisfies Honours;

export const onlyJpeg: Honoured = {
  refused: 'The models that are sold answer as JPEG, which has no opacities.',
};

export const ownQuality: Honoured = {
  refused: 'The server has no qualities: its model or workflow fixes them.',
};
