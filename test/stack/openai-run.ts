/** The part of the whole run in which the functions of the OpenAI-shaped endpoint do everything that they can do. */
import { expect } from 'vitest';
import { setNotices } from '../../service/notices/alert-settings.ts';
import type { Client, TestService } from '../fixtures/service.ts';

/** What the parts of the whole run share. */
export interface Shared {
  /** The address of a source image. */
  readonly source: string;
  /** `upload:ID` of an image in the bucket. */
  readonly upload: string;
  readonly isTold: (client: Client) => Promise<void>;
}

export async function useOpenai(
  service: TestService,
  { key }: Client,
  { source, upload, isTold }: Shared,
): Promise<void> {
  const { openaiUrl, inboxUrl } = service.machine;
  const call = async (
    path: string,
    body?: object,
    { as = key, headers = {}, status = 200 }: { as?: string; headers?: object; status?: number } = {},
  ): Promise<void> => {
    const answer = await fetch(`${openaiUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${as}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status, `${path}: ${await answer.text()}`).toBe(status);
  };
  const picture = { model: 'sandbox-sketch', prompt: 'a lake' };
  const edit = { model: 'sandbox-pro', prompt: 'a lake' };
  await call('/models');
  const poor = await service.client({ balance: '0.001' });
  await setNotices(poor.account.id, { noticeUrl: inboxUrl }, service.operator);
  await Promise.all([
    // A vendor that calls back. Its job is polled, because its account is not pinned yet.
    call('/images/generations', { ...picture, model: 'flux-2-pro' }),
    call('/images/edits', { ...edit, images: [{ image_url: source }] }),
    call('/images/edits', { ...edit, images: [{ image_url: upload }] }),
    call('/images/generations', picture, { as: poor.key, status: 402 }),
    triedTwice(),
  ]);
  await isTold(poor);

  /** The second try of a call finds the picture of the first. */
  async function triedTwice(): Promise<void> {
    for (const attempt of ['0', '1'])
      await call('/images/generations', picture, { headers: { 'x-stainless-retry-count': attempt } });
  }
}
