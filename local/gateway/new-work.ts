/** Requests for new work, and the answer that each of the doors gives when this machine takes none. */
import {
  apiRoot,
  mcpPath,
  openaiOperations,
  openaiRoot,
  operations,
  portalOperations,
  portalRoot,
} from '../../service/contract/operations.ts';
import { isObject, parseJson } from '../json.ts';

/** The requests that charge, or that keep what a client sends. */
const pathsOfNewWork: ReadonlySet<string> = new Set([
  ...[operations.generateImage, operations.createUpload].map(({ path }) => `${apiRoot}${path}`),
  ...[openaiOperations.createImages, openaiOperations.editImages].map(({ path }) => `${openaiRoot}${path}`),
  ...[portalOperations.createCreation, portalOperations.createPortalUpload].map(
    ({ path }) => `${portalRoot}${path}`,
  ),
]);
/** The tool of MCP that charges. */
const chargingTool = 'generate_image';

const retryAfterSeconds = 30;
const details = { reason: 'overloaded' };
const message =
  'The service has no room for new work at the moment. Nothing was charged: send the request again later.';

export interface Refusal {
  readonly status: 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function asksForNewWork(method: string, path: string, body: Buffer): boolean {
  if (method !== 'POST') return false;
  return path === mcpPath ? callsTool(body, chargingTool) : pathsOfNewWork.has(path);
}

/** @param requestId the id under which the gateway knows the request */
export function noRoom(path: string, requestId: string): Refusal {
  const isOpenai = path.startsWith(`${openaiRoot}/`);
  const error = isOpenai
    ? { message, type: 'server_error', param: null, code: 'overloaded', details }
    : { code: 'ERR_PROVIDER_UNAVAILABLE', message, details };
  return {
    status: 503,
    headers: {
      'retry-after': String(retryAfterSeconds),
      'x-request-id': requestId,
      // Somebody has to make room on the disk.
      'x-should-retry': 'false',
    },
    body: { error },
  };
}

/** False for a message that is wrong: the function says what is wrong with it. */
function callsTool(body: Buffer, name: string): boolean {
  const message = parseJson(body.toString());
  if (!isObject(message) || message['method'] !== 'tools/call') return false;
  return isObject(message['params']) && message['params']['name'] === name;
}
