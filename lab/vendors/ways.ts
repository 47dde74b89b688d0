/**
 * The ways in which a vendor can fail, and the row of each vendor's table that shows it. Types ask every vendor for
 * every way: a new vendor names a row, or says why the vendor cannot fail in this way. test/vendors/whole/ways.test.ts
 * compares this with the tables, and runs what no row can show.
 */
import type { VendorRow } from './fakes/fake-vendor.ts';
import type { FleetName } from './fleet.ts';

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
export type Shown = string | { readonly cannot: string };

const inOneCall: Shown = { cannot: 'The vendor answers with the picture: there is no job and no download.' };
const noJob: Shown = { cannot: 'The vendor answers in one call: there is no job.' };
const noSources: Shown = { cannot: 'No route of the vendor takes source images.' };
const noTimeLimit: Shown = {
  cannot: 'The vendor tells no time limit of its own. Our deadline ends the call.',
};
const noStop: Shown = { cannot: 'The vendor has no call that stops a job.' };
const byRow = 'throttled-for-a-second';

/** What the vendors that answer in one call share. */
const oneCall = {
  'throttled with Retry-After': byRow,
  'stopped at the vendor': noJob,
  'job lost': noJob,
  'poll broken': inOneCall,
  'download broken': inOneCall,
} as const satisfies Partial<Record<Way, Shown>>;

/** What most vendors that answer in one call share, and all servers of the common shape. */
const commonShape = {
  ...oneCall,
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
const withJobs = {
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

export const ways: Readonly<Record<FleetName, Readonly<Record<Way, Shown>>>> = {
  bedrock: {
    ...commonShape,
    'refused prompt': 'prompt-filter',
    'refused source': 'input-filter',
    'wrong key': 'unknown-client',
    'failed at the vendor': 'model-error',
    'timed out at the vendor': 'timed-out',
  },
  openai: {
    ...commonShape,
    'refused prompt': 'moderation-input',
    'refused source': 'bad-source',
    'out of credit': 'quota',
  },
  google: {
    ...commonShape,
    'refused prompt': 'prompt-blocked',
    'refused source': 'bad-source',
    'no picture': 'no-image',
    'timed out at the vendor': 'timed-out',
  },
  bfl: {
    ...withJobs,
    'refused prompt': 'request-moderated',
    'refused source': 'source-moderated',
    'out of credit': 'payment-required',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-sample',
    'no picture': 'no-sample',
    'timed out at the vendor': noTimeLimit,
    'stopped at the vendor': noStop,
    'job lost': 'task-not-found',
  },
  fal: {
    ...withJobs,
    'refused prompt': 'prompt-policy',
    'refused source': 'image_load_error',
    'out of credit': 'payment-required',
    'failed at the vendor': 'internal_server_error',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-images',
    'timed out at the vendor': 'generation_timeout',
    'stopped at the vendor': 'client_cancelled',
    'job lost': 'job-missing',
  },
  replicate: {
    ...withJobs,
    'refused prompt': 'sensitive',
    'refused source': {
      cannot: 'Not verified: the words by which a model refuses a source image. It fails, and is refunded.',
    },
    'out of credit': 'insufficient-credit',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-output',
    'timed out at the vendor': 'timeout',
    'stopped at the vendor': 'canceled',
    'job lost': 'job-missing',
  },
  alibaba: {
    ...commonShape,
    'refused prompt': 'inspection-input',
    'refused source': 'bad-source',
    'out of credit': 'arrearage',
    'moved elsewhere': 'foreign-picture',
    'timed out at the vendor': 'timed-out',
    'download broken': 'download-broke',
  },
  ideogram: {
    ...withJobs,
    'refused prompt': 'unsafe-prompt',
    'refused source': noSources,
    'out of credit': 'funds',
    'failed at the vendor': 'failed',
    'moved elsewhere': 'foreign-picture',
    'no picture': 'no-picture',
    'timed out at the vendor': noTimeLimit,
    'stopped at the vendor': noStop,
    'job lost': 'job-missing',
  },
  xai: {
    ...commonShape,
    'refused prompt': 'moderated',
    'refused source': {
      cannot: 'Not verified: how xAI refuses a source image. Its answer about the field raises an alarm.',
    },
    'out of credit': 'credits',
  },
  recraft: {
    ...commonShape,
    'refused prompt': 'improper',
    'refused source': noSources,
    'out of credit': 'credits',
  },
  byteplus: {
    ...commonShape,
    'refused prompt': 'sensitive-text',
    'refused source': 'bad-source',
    'out of credit': 'overdue',
  },
  comfyui: {
    ...withJobs,
    'refused prompt': { cannot: 'ComfyUI has no moderation.' },
    'refused source': 'bad-source',
    throttled: 'full-queue',
    'out of credit': 'payment',
    'failed at the vendor': 'execution-error',
    'moved elsewhere': 'redirect',
    'no picture': 'no-picture',
    'timed out at the vendor': {
      cannot: 'ComfyUI has no time limit. Our deadline takes the job out of its queue.',
    },
    'stopped at the vendor': 'interrupted',
    'job lost': 'lost',
  },
  gpu: ownServer('vLLM-Omni'),
  sglang: ownServer('SGLang'),
  localai: ownServer('LocalAI'),
  proxy: {
    ...commonShape,
    'refused prompt': 'policy',
    'refused source': 'too-large',
    'out of credit': 'budget',
    'download broken': { cannot: 'Not in this table: the adapter test breaks a download of the style.' },
  },
};

/** A server with one model on an own GPU. */
function ownServer(title: string): Readonly<Record<Way, Shown>> {
  return {
    ...commonShape,
    'refused prompt': { cannot: `${title} has no moderation.` },
    'refused source': 'too-large',
    throttled: { cannot: `${title} does not throttle. A proxy in front of it does: see Retry-After.` },
  };
}
