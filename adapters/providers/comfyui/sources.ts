/** Source images of a workflow are files of the server, so they are uploaded before the workflow. */
import { createHash } from 'node:crypto';
import { refusedBy, type Refused, type SourceImage } from '../../../core/provider.ts';
import { CallBroke, detailOf, retryAfterOf, unknownAnswer, type VendorResponse } from '../vendor-http.ts';
import { isTrouble, refusedCredentials } from '../vendor-jobs.ts';
import { fieldsOf } from '../vendor-json.ts';
import type { Connection } from './connection.ts';

type Uploaded = { readonly kind: 'uploaded'; readonly names: readonly string[] } | Refused;

/** The names by which a node of the workflow reads the images. */
export async function uploadedNames(
  connection: Connection,
  sources: readonly SourceImage[],
): Promise<Uploaded> {
  const names: string[] = [];
  for (const source of sources) {
    const name = await upload(connection, source);
    if (typeof name !== 'string') return name;
    names.push(name);
  }
  return { kind: 'uploaded', names };
}

/** The name comes from the bytes: the same image is one file of the server, however often it is sent. */
async function upload(
  connection: Connection,
  { contentType, bytes }: SourceImage,
): Promise<string | Refused> {
  const { http, headers, signal, credentials, name } = connection;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const file = `darkroom-${hash}.${contentType.replace('image/', '')}`;
  const form = new FormData();
  form.append('image', new Blob([new Uint8Array(bytes)], { type: contentType }), file);
  let response: VendorResponse;
  try {
    response = await http.call({ method: 'POST', to: '/upload/image', headers, body: form, signal });
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    // No workflow was sent, so nothing is rendered.
    return refusedBy('unavailable', error.code);
  }
  if (isTrouble(response))
    return refusedBy('unavailable', detailOf(response, 'upload'), retryAfterOf(response));
  const refused = refusedCredentials(response, credentials, name);
  if (refused) return refused;
  // The server has a limit for bodies, 100 MB by default.
  if (response.status === 413) return refusedBy('source_image', detailOf(response, 'upload'));
  const { name: saved, subfolder = '' } = fieldsOf(response.json);
  if (response.status !== 200 || typeof saved !== 'string' || typeof subfolder !== 'string')
    return unknownAnswer(response, 'upload');
  return subfolder === '' ? saved : `${subfolder}/${saved}`;
}
