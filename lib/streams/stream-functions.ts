/** The functions of the streaming APIs: what each may do, and what it knows. */
import { Duration } from 'aws-cdk-lib';
import { heldLimit } from '../admission.ts';
import type { NoticeExecution } from '../notice-execution.ts';
import { grantCancel, grantGenerate, type OperationParts } from '../operation-grants.ts';
import type { AddFunction, ServiceFunction } from '../service-function.ts';
import type { Settings } from '../settings.ts';
import { requestItems } from '../store.ts';
import { openaiAliases } from '../settings-of-parts.ts';

export interface StreamParts extends OperationParts, PortalAddresses {
  readonly notices: NoticeExecution;
  readonly settings: Settings;
  /** The root of the API. */
  readonly apiUrl: string;
}

export interface PortalAddresses {
  readonly portalUrl: string;
  /** The address that a 402 names. */
  readonly topUpUrl: string;
}

/** The functions of the streaming APIs. The first and the last one hold requests. */
export type StreamFunctions = Readonly<Record<'openaiImages' | 'openaiModels' | 'mcp', ServiceFunction>>;

/** Adds the three functions. The two that hold requests have concurrency of their own, unless the settings say not. */
export function addStreamFunctions(add: AddFunction, parts: StreamParts): StreamFunctions {
  const { settings } = parts;
  const { images, mcp } = settings.heldRequests;
  const made = {
    openaiImages: add('OpenaiImages', 'openai-images', {
      description: 'Answers the OpenAI-shaped requests for images, once the images are there',
      // A request waits for most of its time. Four pictures of 15 MB take 257 MB (docs/measurements).
      memoryMegabytes: 512,
      // Longer than a request is held (service/contract/limits.ts).
      timeout: Duration.seconds(360),
      reservedConcurrency: reserved(images),
    }),
    openaiModels: add('OpenaiModels', 'openai-models', {
      description: 'Answers the other OpenAI-shaped requests',
      memoryMegabytes: 1024,
      timeout: Duration.seconds(29),
    }),
    mcp: add('Mcp', 'mcp', {
      description: 'Answers agents that speak MCP',
      memoryMegabytes: 1024,
      timeout: Duration.seconds(90),
      reservedConcurrency: reserved(mcp),
    }),
  };
  grant(made, parts);
  made.openaiImages.addEnvironment('HELD_LIMIT', heldLimit(images, settings));
  made.mcp.addEnvironment('HELD_LIMIT', heldLimit(mcp, settings));
  return made;
}

function reserved(setting: number | 'shared'): number | undefined {
  return setting === 'shared' ? undefined : setting;
}

function grant({ openaiImages, openaiModels, mcp }: StreamFunctions, parts: StreamParts): void {
  const { store, images, notices, settings, topUpUrl } = parts;
  for (const fn of [openaiImages, openaiModels, mcp]) {
    store.grantRead(fn, 'BatchGetItem');
    fn.addEnvironment('RESULTS_BASE_URL', images.baseUrl);
    fn.addEnvironment('AUTH_FAILURE_FORM', settings.authFailureForm);
    fn.addEnvironment('SANDBOX', settings.sandbox);
    fn.addEnvironment('KEEP_PROMPTS_DAYS', String(settings.keepPromptsDays));
  }
  for (const fn of [openaiImages, openaiModels])
    fn.addEnvironment('OPENAI_ALIASES', openaiAliases(settings.openai));
  for (const fn of [openaiImages, mcp]) {
    grantGenerate(fn, parts);
    notices.grantStart(fn);
    images.grantReadResults(fn);
    images.grantAddresses(fn);
    fn.addEnvironment('OUTBOUND_RULES', 'public');
    fn.addEnvironment('TOP_UP_URL', topUpUrl);
  }
  openaiImages.addEnvironment('API_URL', parts.apiUrl);
  openaiImages.addEnvironment('PORTAL_URL', parts.portalUrl);
  store.grantWrite(openaiModels, requestItems, 'UpdateItem');
  // The tries of one call are items of one partition.
  store.grantRead(openaiImages, 'Query');
  store.grantListing(mcp);
  grantCancel(mcp, parts);
}
