/**
 * The functions of the portal in a world, put together as functions/services/portal*.ts does it: the real handlers
 * over the real adapters.
 */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { createAccountSettings } from '../../adapters/dynamodb/account-settings.ts';
import { createActionLog } from '../../adapters/dynamodb/portal/action-log.ts';
import { createCharges, createChargeStore } from '../../adapters/dynamodb/charge-store.ts';
import { createCreationReader, createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createCreationStore } from '../../adapters/dynamodb/creation-store.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createHeldPlaces } from '../../adapters/dynamodb/held-places.ts';
import { createKeyStore } from '../../adapters/dynamodb/key-store.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { putKey } from '../../adapters/dynamodb/put-key.ts';
import { createRequestStore } from '../../adapters/dynamodb/request-store.ts';
import { createUploadStore } from '../../adapters/dynamodb/upload-store.ts';
import { createPortalAccess } from '../../adapters/dynamodb/portal/session-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createReplaceableSecret } from '../../adapters/plain-secret.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import type { SoldCatalogs } from '../../core/sold-catalog.ts';
import { heldShare, requestMillis } from '../../core/limits.ts';
import type { PortalSettings } from '../../core/portal/settings.ts';
import type { CancelServices } from '../../core/cancellation.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { Claims } from '../../core/ports/identity-provider.ts';
import type { SecretBox } from '../../core/ports/secret-box.ts';
import type { Tasks } from '../../core/ports/tasks.ts';
import type { Schema } from '../../core/schema-version.ts';
import { startBudget } from '../../core/time-budget.ts';
import type { ApiHandler } from '../../functions/http/framed.ts';
import { notedCharges, notedChargeStore, notedStarts, type OpenNotes } from '../../core/open-notes.ts';
import { servePortal } from '../../functions/portal/http/serve-portal.ts';
import { cancelHandlers } from '../../functions/portal/cancel.ts';
import { generateHandlers } from '../../functions/portal/generate.ts';
import { manageHandlers } from '../../functions/portal/manage.ts';
import { serveRead } from '../../functions/portal/read.ts';
import { enter } from '../../functions/portal/sign-in/enter.ts';
import type { CommonServices } from '../../functions/services/common.ts';
import type { PortalServices } from '../../functions/services/portal.ts';
import type { PortalCancelServices } from '../../functions/services/portal-cancel.ts';
import type { GenerateServices } from '../../functions/services/portal-generate.ts';
import type { ManageServices } from '../../functions/services/portal-manage.ts';
import { readStores, type ReadServices } from '../../functions/services/portal-read.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import type { Bucket } from '../network/bucket.ts';
import { machineArns } from './step-functions.ts';

/** The functions of the portal that the simulation runs. Their invocations have these names. */
export type PortalFunctionName = 'portal-read' | 'portal-manage' | 'portal-generate' | 'portal-cancel';

/** What only the portal's distribution knows. */
export const originSecret = 'an-origin-secret-nobody-may-log';
const newOriginSecret = `${originSecret}-either`;
export const originSecretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:origin';

/** Secrets Manager with the secret. @param isReplaced the deployment that sends the new value is still to come */
export function originSecretAt(stage: unknown, isReplaced: boolean): { readonly SecretString: string } {
  if (stage !== 'AWSPREVIOUS') return { SecretString: isReplaced ? newOriginSecret : originSecret };
  if (isReplaced) return { SecretString: originSecret };
  throw new AwsError('ResourceNotFoundException', 'the secret has no version with this label');
}

const settings: PortalSettings = {
  portalUrl: new URL('https://portal.test/'),
  apiUrl: 'https://api.test/api/public/v1',
  resultsBaseUrl: 'https://results.test',
  emailsAreVerified: true,
  hasAuthTime: true,
  paymentUrl: null,
  contact: null,
  credentialsUrl: null,
  inboxUrl: null,
};

const clientUrls = { openai: 'https://api.test/openai/v1', mcp: 'https://api.test/mcp' };

/** What the portal shares with the other functions of the world. */
export interface PortalParts {
  readonly common: Omit<CommonServices, 'schema'>;
  /** The release of the moment at which an invocation begins. */
  readonly ofToday: () => { readonly schema: Schema };
  readonly store: Table;
  readonly states: SFNClient;
  readonly secrets: SecretsManagerClient;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly catalogs: (shared: Table) => SoldCatalogs;
  readonly bucket: Bucket;
  readonly topUpUrl: string;
  readonly serviceCapacity: number;
  readonly nextTurn: () => number;
  readonly openNotes: () => OpenNotes;
  readonly tasks: (signal: AbortSignal) => Tasks;
  /** The vendors that can stop a job. */
  readonly stoppable: CancelServices['providers'];
}

export interface Portal {
  readonly handlers: Readonly<Record<PortalFunctionName, ApiHandler>>;
  /** What a sign-in does once the issuer has said who the person is. Resolves with the person, or with a refusal. */
  readonly enter: (claims: Claims) => Promise<string>;
}

export function createPortal(parts: PortalParts): Portal {
  const { common, ofToday, store, states, secrets, secretBox, outbound, catalogs, bucket } = parts;
  const { clock } = common;
  const base = {
    ...common,
    settings,
    originSecrets: createReplaceableSecret({ client: secrets, secretArn: originSecretArn, clock }),
  };
  const openPortal = (): PortalServices & { readonly shared: Table } => {
    const budget = startBudget(clock, requestMillis);
    const shared = { ...store, signal: budget.signal };
    return {
      ...base,
      ...ofToday(),
      budget,
      shared,
      access: createPortalAccess(shared),
      actions: createActionLog(shared),
    };
  };
  const openManage = (): ManageServices => {
    const { shared, ...portal } = openPortal();
    const { signal } = portal.budget;
    return {
      ...portal,
      catalogs: catalogs(shared),
      outbound,
      outboundRules: 'public',
      secretBox,
      registerUser: () => Promise.resolve('none'),
      emailsADay: Infinity,
      keys: createKeyStore(shared),
      accounts: createAccountSettings(shared),
      people: createPeopleStore(shared),
      creations: createCreationReads(shared),
      deliveries: createDeliveryStore(shared),
      executions: createExecutions(states, machineArns, signal),
      notices: createNoticeMarks(shared),
      noticeExecutions: createNoticeExecutions(states, machineArns.notices, signal),
    };
  };
  const openGenerate = (): GenerateServices => {
    const { shared, ...portal } = openPortal();
    const { signal } = portal.budget;
    const notes = parts.openNotes();
    return {
      ...portal,
      catalogs: catalogs(shared),
      outbound,
      outboundRules: 'public',
      resultsBaseUrl: settings.resultsBaseUrl,
      authFailureForm: 'envelope',
      topUpUrl: parts.topUpUrl,
      uploadTargets: bucket.targets,
      requests: createRequestStore(shared),
      creations: createCreationReader(shared),
      keys: { create: (key) => putKey(shared, key) },
      held: createHeldPlaces(shared, 'generate', heldShare.least),
      serviceCapacity: parts.serviceCapacity,
      nextTurn: parts.nextTurn,
      charges: notedCharges(createCharges(shared), notes),
      uploads: createUploadStore(shared),
      executions: notedStarts(createExecutions(states, machineArns, signal), notes),
      notices: createNoticeMarks(shared),
      noticeExecutions: createNoticeExecutions(states, machineArns.notices, signal),
      images: bucket.open(signal),
    };
  };
  const openCancel = (): PortalCancelServices => {
    const { shared, ...portal } = openPortal();
    return {
      ...portal,
      creations: createCreationStore(shared),
      charges: notedChargeStore(createChargeStore(shared), parts.openNotes()),
      tasks: parts.tasks(portal.budget.signal),
      providers: parts.stoppable,
    };
  };
  const openRead = (): ReadServices => {
    const { shared, ...portal } = openPortal();
    const { serviceCapacity } = parts;
    return { ...portal, catalogs: catalogs(shared), clientUrls, serviceCapacity, ...readStores(shared) };
  };
  return {
    handlers: {
      'portal-read': serveRead(openRead),
      'portal-manage': servePortal('manage', manageHandlers, openManage),
      'portal-generate': servePortal('generate', generateHandlers, openGenerate),
      'portal-cancel': servePortal('cancel', cancelHandlers, openCancel),
    },
    enter: async (claims) => {
      const { shared, ...portal } = openPortal();
      const services = { ...portal, people: createPeopleStore(shared) };
      try {
        const entered = await enter(claims, undefined, clock.now(), services);
        return typeof entered === 'string' ? entered : entered.personId;
      } finally {
        portal.budget.end();
      }
    },
  };
}
