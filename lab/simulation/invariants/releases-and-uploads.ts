/**
 * The invariants of releases: a release leaves alone what a newer one has written, an execution has the version
 * of its record, and a running execution keeps the code with which it began.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { parseKey } from '../../../service/accounts/api-key.ts';
import { uploadMillis } from '../../../service/contract/limits.ts';
import type { NoticePayload, Payload } from '../../../service/creations/payload.ts';
import { uploadIdsIn } from '../../../service/uploads/upload.ts';
import type { Service } from '../aws/deployed-service.ts';
import { type Release, releaseSchemas } from '../aws/lambda-environments.ts';
import type { Change } from '../aws/simulated-table.ts';
import { bodyOf, memberOf } from '../clients/requests.ts';
import type { Post } from '../network/outbound.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import type { Accuse } from './money-books.ts';

/** The rows of a creation that only a release may change that understands the creation. */
const guarded = new Set(['CREATION', 'LEASE']);

export function createReleaseInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  const itemOf = (pk: string): Item | undefined => service()?.table.get(pk, 'CREATION');
  const versionOf = (item: Item | undefined): number => Number(item?.['v']?.N ?? 1);

  function leavesAlone(item: Item | undefined, invocation: Invocation | undefined, deed: string): void {
    const release = service()?.releases.of(invocation);
    if (release === undefined || versionOf(item) <= releaseSchemas[release].newestKnown) return;
    accuse(
      'a release leaves alone what a newer release has written',
      `${invocation?.id ?? ''} of ${release} ${deed} ${item?.['id']?.S ?? ''}`,
    );
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { pk, sk, before, after } of changes)
        if (pk.startsWith('CREATION#') && guarded.has(sk))
          leavesAlone(
            sk === 'CREATION' ? (before ?? after) : itemOf(pk),
            world.current(),
            `changes ${sk} of`,
          );
    },
    /** Called when a receiver got a webhook. */
    onPost: ({ body, sender }: Post) => {
      leavesAlone(itemOf(`CREATION#${memberOf(bodyOf(body), 'id')}`), sender, 'tells about');
    },
    /** Receives the input with which an execution of a creation is started. */
    onStart: (input: string) => {
      const { creation_id: id, v = 1 } = JSON.parse(input) as Payload;
      const item = itemOf(`CREATION#${id}`);
      leavesAlone(item, world.current(), 'starts');
      if (item && v !== versionOf(item))
        accuse('an execution has the version of its record', `${id}: ${v}, not ${versionOf(item)}`);
    },
    /** Called when the code of a Task did not understand its creation. */
    onNotUnderstood: (payload: Payload | NoticePayload, began: Release) => {
      // The work of a copy names the creation behind "ntc_".
      const id = 'notice_id' in payload ? payload.notice_id.slice(4) : payload.creation_id;
      if (versionOf(itemOf(`CREATION#${id}`)) <= releaseSchemas[began].newestKnown)
        accuse('a running execution keeps the code of its release', `${id}, begun by ${began}`);
    },
  };
}

interface Announced {
  readonly account: string;
  readonly at: number;
  /** The key of the object, as the signed address has it. */
  readonly objectKey: string;
}

interface Asking {
  readonly account: string;
  /** The uploads that the request names. */
  readonly uploads: readonly string[];
}

export function createUploadInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  const announced = new Map<string, Announced>();
  const asking = new Map<string, Asking>();

  function mayBeUsed(id: string, { account }: Asking, startedAt: number): void {
    const upload = announced.get(id);
    if (upload?.account !== account) accuse('an upload is used by its owner alone', `${id} by ${account}`);
    if (!upload) return;
    if (startedAt > upload.at + uploadMillis + world.clocks.largestSkew())
      accuse('an expired upload is not used', `${id}, ${startedAt - upload.at} ms old`);
    if (service()?.bucket.uploads.has(upload.objectKey) === false) accuse('only a filled upload is used', id);
    if (service()?.table.get(`ACCOUNT#${account}`, 'UNUSED_UPLOADS')?.['unused']?.SS?.includes(id) === true)
      accuse('a used upload is not counted as unused', id);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { pk, sk, after } of changes) {
        if (sk !== 'UNUSED_UPLOADS') continue;
        const count = after?.['unused']?.SS?.length ?? 0;
        const most = Number(service()?.table.get(pk, 'ACCOUNT')?.['maxUnusedUploads']?.N);
        if (count > most)
          accuse('never more unused uploads than the account may have', `${pk}: ${count} of ${most}`);
      }
    },
    /** Called when an API function begins with a request. */
    onSent: ({ id, name }: Invocation, { headers, body }: APIGatewayProxyEventV2) => {
      const account = parseKey((headers['authorization'] ?? '').replace('Bearer ', ''))?.accountId;
      if (account === undefined || (name !== 'generate' && name !== 'upload')) return;
      const urls = bodyOf(body)['image_urls'];
      const listed = Array.isArray(urls) ? urls.filter((url) => typeof url === 'string') : [];
      asking.set(id, { account, uploads: uploadIdsIn(listed) });
    },
    /** Called when an API function answered. */
    onServed: (
      { id, name, startedAt }: Invocation,
      { statusCode = 0, headers = {}, body }: APIGatewayProxyStructuredResultV2,
    ) => {
      const asked = asking.get(id);
      if (!asked || statusCode >= 300) return;
      if (name === 'upload') {
        const view = bodyOf(body);
        const { account } = asked;
        const objectKey = new URL(memberOf(view, 'upload_url')).pathname.slice(1);
        announced.set(memberOf(view, 'id'), { account, at: world.time.now(), objectKey });
      } else if (headers['idempotent-replayed'] !== 'true') {
        for (const upload of asked.uploads) mayBeUsed(upload, asked, startedAt);
      }
    },
  };
}
