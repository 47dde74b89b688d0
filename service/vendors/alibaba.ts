/**
 * Qwen-Image at Alibaba Model Studio, by the native protocol (DashScope). One synchronous call renders and answers
 * with the address of the picture, which the vendor keeps for 24 hours. The answer becomes a job whose id is that
 * address: so a function that dies during the download continues with the same picture, and nothing is paid
 * twice.
 *
 * Read on 2026-11-22: the API reference of 2026-10-12
 * (https://www.alibabacloud.com/help/en/model-studio/qwen-image-generation-and-editing-api-reference), the codes
 * (https://www.alibabacloud.com/help/en/model-studio/error-code), and real answers with their fields `output` and
 * `usage` in public clients of the API.
 *
 * Not verified: whether an inspection ever says that a source image failed it (DataInspectionFailed has one code for
 * both), what a source image above the recommended 384 to 3,072 pixels a side does, and the list of the hosts of
 * pictures. The vendor documents `dashscope-result-*` and has answered with other buckets of its storage, too
 * (dashscope-a717.oss-accelerate.aliyuncs.com). So the hosts below are the storage itself, in the regions of the
 * service. Anybody can own a bucket there; no key is sent to it, and its answer must be a picture.
 */
import type { RefusalReason } from '../contract/failures.ts';
import type { AspectRatio, Resolution } from '../contract/request-fields.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  refusedBy,
  type RenderJob,
  type VendorSettings,
} from './provider.ts';
import {
  answering,
  checkByCall,
  createVendorHttp,
  detailOf,
  entryOf,
  fieldsOf,
  listOf,
  propertyOf,
  retryAfterOf,
  unknownAnswer,
  type VendorResponse,
} from './vendor-http.ts';
import { dataUriOf, download, foreignAddress, pendingJob, polling, type Waits } from './vendor-jobs.ts';

/**
 * Width and height in Alibaba's form. The vendor's limits for qwen-image-3.0: 512 x 512 to 2048 x 2048 pixels in
 * total, and a ratio of 1:8 to 8:1. Up to 2,250,000 pixels are billed as 1K, more as 2K. Both sides are multiples
 * of 16, which the vendor does not ask for.
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-generation-and-editing-api-reference (2026-10-12)
 */
const sizes: Readonly<Partial<Record<Resolution, Readonly<Record<AspectRatio, string>>>>> = {
  '1K': {
    '1:1': '1024*1024',
    '3:2': '1248*832',
    '2:3': '832*1248',
    '4:3': '1152*864',
    '3:4': '864*1152',
    '5:4': '1120*896',
    '4:5': '896*1120',
    '16:9': '1360*768',
    '9:16': '768*1360',
    '21:9': '1536*656',
  },
  '2K': {
    '1:1': '2048*2048',
    '3:2': '2496*1664',
    '2:3': '1664*2496',
    '4:3': '2304*1728',
    '3:4': '1728*2304',
    '5:4': '2240*1792',
    '4:5': '1792*2240',
    '16:9': '2560*1440',
    '9:16': '1440*2560',
    '21:9': '2912*1248',
  },
};

/** Throws for 4K, which Qwen-Image does not render. The catalog has no such route. */
export function alibabaSizeOf(resolution: Resolution, aspectRatio: AspectRatio): string {
  const size = sizes[resolution]?.[aspectRatio];
  if (size === undefined) throw new Error(`Qwen-Image renders no ${resolution}`);
  return size;
}

/** Singapore. A key of another region is refused here. */
const alibabaUrl = 'https://dashscope-intl.aliyuncs.com';

const pictureHosts = [
  'oss-accelerate.aliyuncs.com',
  'oss-ap-southeast-1.aliyuncs.com',
  'oss-us-east-1.aliyuncs.com',
  'oss-eu-central-1.aliyuncs.com',
  'oss-cn-beijing.aliyuncs.com',
  'oss-cn-hangzhou.aliyuncs.com',
  'oss-cn-shanghai.aliyuncs.com',
  'oss-cn-shenzhen.aliyuncs.com',
  'oss-cn-wulanchabu.aliyuncs.com',
  'oss-cn-wulanchabu-acdr-1.aliyuncs.com',
];

/** The picture is there when the answer comes. Only a download that broke waits. */
const waits: Waits = [0, 1_000, 2_000, 3_000];

const reasonOfCode: Readonly<Partial<Record<string, RefusalReason>>> = {
  DataInspectionFailed: 'prompt',
  data_inspection_failed: 'prompt',
  IPInfringementSuspect: 'prompt',
  // The vendor could not read a source image.
  'InvalidParameter.DataInspection': 'source_image',
  'BadRequest.InputDownloadFailed': 'source_image',
  'InvalidImage.FileFormat': 'source_image',
  InvalidImage: 'source_image',
  InvalidImageFormat: 'source_image',
  InvalidImageResolution: 'source_image',
  // These come with 400 or 429, but waiting does not help, because our bill is the cause.
  Arrearage: 'credentials',
  'AllocationQuota.FreeTierOnly': 'credentials',
  'InternalError.Timeout': 'timed_out',
  RequestTimeOut: 'timed_out',
};

const reasonOfStatus: Readonly<Partial<Record<number, RefusalReason>>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'credentials',
  // An operator must correct this, too: our account does not have the model.
  404: 'credentials',
  413: 'source_image',
  429: 'unavailable',
  503: 'unavailable',
  504: 'timed_out',
};

export function createAlibaba({ name, credentials, baseUrl = alibabaUrl }: VendorSettings): ImageProvider {
  const api = createVendorHttp({ baseUrl, hosts: [] });
  const pictures = createVendorHttp({ baseUrl, hosts: pictureHosts });
  return {
    name,
    sends: ['negativePrompt'],
    submit: (job, signal) =>
      answering(async () => {
        const key = await credentials.read(name);
        if (key === undefined) return refusedBy('credentials', 'no credential');
        const body = await bodyOf(job);
        const response = await api.call({
          method: 'POST',
          to: '/api/v1/services/aigc/multimodal-generation/generation',
          headers: { authorization: `Bearer ${key}` },
          body,
          signal,
        });
        const address = response.status === 200 ? addressIn(response) : refusalOf(response);
        if (typeof address === 'string')
          return pictures.isOwn(address) ? pendingJob(waits, [address]) : foreignAddress;
        if (address.kind === 'refused' && address.reason === 'credentials') credentials.forget(name);
        return address;
      }),
    poll: (jobId, _job, signal) =>
      polling(jobId, waits, (address = '') => download(pictures, address, signal)),
  };
}

/** The vendor rewrites short prompts. With a seed it must not: the same seed would then draw another prompt. */
async function bodyOf(job: RenderJob): Promise<object> {
  const sources = job.sourceCount > 0 ? await job.readSources() : [];
  return {
    model: job.providerModel,
    input: {
      messages: [
        {
          role: 'user',
          content: [...sources.map((source) => ({ image: dataUriOf(source) })), { text: job.prompt ?? '' }],
        },
      ],
    },
    parameters: {
      n: 1,
      size: alibabaSizeOf(job.resolution, job.aspectRatio),
      prompt_extend: job.seed === null,
      watermark: false,
      ...(job.seed !== null && { seed: job.seed }),
      ...(job.negativePrompt != null && { negative_prompt: job.negativePrompt }),
    },
  };
}

/** The address of the picture, or why there is none. The content may hold texts, too. */
function addressIn(response: VendorResponse): string | ProviderAnswer {
  const { output, code } = fieldsOf(response.json);
  if (typeof code === 'string' && code !== '') return refusalOf(response);
  const choices = propertyOf(output, 'choices');
  if (!Array.isArray(choices)) return unknownAnswer(response);
  const content = listOf(propertyOf(propertyOf(choices[0], 'message'), 'content'));
  const address = content.map((part) => propertyOf(part, 'image')).find((image) => typeof image === 'string');
  return address ?? refusedBy('nothing_rendered', detailOf(response));
}

function refusalOf(response: VendorResponse): ProviderAnswer {
  const { code } = fieldsOf(response.json);
  const known = typeof code === 'string' ? entryOf(reasonOfCode, code) : undefined;
  const reason = known ?? reasonOfStatus[response.status] ?? (response.status >= 500 ? 'failed' : undefined);
  return refusedBy(reason ?? 'unknown_answer', detailOf(response, code), retryAfterOf(response));
}

/** Lists the models: alibabacloud.com/help/en/model-studio/error-code (401; read 2026-11-22). */
export async function checkAlibaba(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? alibabaUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({
      method: 'GET',
      to: '/compatible-mode/v1/models',
      headers: { authorization: `Bearer ${key}` },
      signal,
    });
  return checkByCall(settings, ask);
}
