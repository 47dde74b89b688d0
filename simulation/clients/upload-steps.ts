/** The steps in which a client announces an upload and puts its bytes, or other bytes, or none. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { keyAt, type AccountHeld, type KeyHeld } from './open-account.ts';
import type { Operation } from '../aws/deployed-service.ts';
import { eventOf } from './request-event.ts';
import type { Step } from './scenario.ts';
import type { Stage } from './stage.ts';
import { pictures } from '../network/providers.ts';

/** Sends one request. Undefined when its answer did not reach the client. */
type SendRequest = (
  operation: Operation,
  account: AccountHeld,
  key: KeyHeld,
  event: APIGatewayProxyEventV2,
) => Promise<APIGatewayProxyStructuredResultV2 | undefined>;

type UploadStep = Extract<Step, { kind: 'upload' }>;

export interface UploadSteps {
  readonly upload: (step: UploadStep) => Promise<void>;
  /** The items of image_urls, in which the ids of uploads stand in the place of the steps' names. */
  readonly named: (images: readonly string[]) => string[];
}

/** What a client names whose upload never came about. */
const noUpload = 'upload:019aa5a0-1000-7000-8000-00000000000b';

export function createUploadSteps({ world, service, accountOf }: Stage, send: SendRequest): UploadSteps {
  const addresses = new Map<string, string>();
  const picture = pictures['png'] ?? Buffer.alloc(0);

  function announcement(key: KeyHeld): ReturnType<typeof eventOf> {
    const body = JSON.stringify({ content_type: 'image/png', bytes: picture.length });
    return eventOf('POST', '/api/public/v1/uploads', key, { 'content-type': 'application/json' }, body);
  }

  return {
    upload: async (step) => {
      const account = accountOf(step);
      const key = keyAt(account, step.key);
      const answer = await send('upload', account, key, announcement(key));
      world.note(`client ${step.name}: ${answer?.statusCode ?? 0}`);
      if (answer?.statusCode !== 201) return;
      const { image_url, upload_url, upload_headers } = JSON.parse(answer.body ?? '{}') as {
        image_url: string;
        upload_url: string;
        upload_headers: Record<string, string>;
      };
      addresses.set(step.name, image_url);
      if (step.fill === 'never') return;
      await world.sleep(world.dice.between(`${step.name} put`, 20, 400));
      const bytes = step.fill === 'right' ? picture : picture.subarray(1);
      const headers = { ...upload_headers, 'content-length': String(bytes.length) };
      world.note(`client ${step.name} puts: ${service.bucket.receive(upload_url, headers, bytes)}`);
    },
    named: (images) =>
      images.map((image) =>
        image.startsWith('upload:') ? (addresses.get(image.slice('upload:'.length)) ?? noUpload) : image,
      ),
  };
}
