/** How servers with POST /v1/images/generations differ (docs/providers.md). Operators may override. */
import type { CompatibleStyleName, Style } from '../../catalog/providers.ts';

const openai: Style = {
  generationsPath: '/v1/images/generations',
  editsPath: '/v1/images/edits',
  checkPath: '/v1/models',
  size: 'pixels',
  answer: 'b64_json',
  edits: 'multipart',
  sourceField: 'image[]',
  seed: null,
  negativePrompt: null,
  quality: 'always',
  background: 'background',
  // GPT Image takes one, and paints the whole picture anew.
  mask: null,
  outputFormat: 'output_format',
  moderation: null,
  billed: 'tokens',
  billedPerUsd: 1,
  fixed: { n: 1 },
};

/** A model on an own GPU: it draws from a seed, renders PNG, and has no qualities and no bill. */
const ownGpu: Style = {
  ...openai,
  sourceField: 'image',
  seed: 'seed',
  quality: 'never',
  background: null,
  outputFormat: null,
  billed: null,
  fixed: { n: 1, response_format: 'b64_json' },
};

export const styles: Readonly<Record<CompatibleStyleName, Style>> = {
  openai,
  /**
   * github.com/vllm-project/vllm-omni, docs/serving/image_generation_api.md and image_edit_api.md, which
   * docs.vllm.ai/projects/vllm-omni shows (read 2026-11-23). Only an edit takes another format than PNG.
   */
  'vllm-omni': { ...ownGpu, negativePrompt: 'negative_prompt' },
  /**
   * docs.sglang.io/diffusion/api/openai_api.html, and image_api.py and protocol.py of the server (read 2026-11-23). An
   * address would need a storage that the server is set up with, so the picture is asked for in base64.
   */
  sglang: { ...ownGpu, outputFormat: 'output_format', negativePrompt: 'negative_prompt' },
  /**
   * localai.io/features/image-generation and core/http/endpoints/openai/image.go (read 2026-11-23). A "|" in a prompt
   * begins the negative prompt there. Not verified: ref_images in a release of this autumn.
   */
  localai: { ...ownGpu, editsPath: '/v1/images/generations', edits: 'base64', sourceField: 'ref_images' },
  /**
   * docs.litellm.ai/docs/image_generation, /image_edits and the headers of its answers (read 2026-11-23). What else a
   * request may carry depends on the model behind the proxy.
   */
  litellm: { ...openai, answer: 'either', quality: 'named', billed: 'x-litellm-response-cost' },
  /**
   * docs.x.ai/developers/model-capabilities/images and the cost tracking beside it: 10^10 ticks are 1 USD (read
   * 2026-11-23). There is no size and no seed. A refused picture is billed, too.
   */
  xai: {
    ...openai,
    size: 'ratio_and_resolution',
    edits: 'image_objects',
    sourceField: 'image',
    quality: 'named',
    background: null,
    outputFormat: null,
    moderation: 'respect_moderation',
    billed: 'usage.cost_in_usd_ticks',
    billedPerUsd: 10_000_000_000,
    fixed: { n: 1, response_format: 'b64_json' },
  },
  /**
   * recraft.ai/docs/api-reference: agents.md, endpoints.md and appendix.md, and the types of the vendor's own client
   * github.com/recraft-ai/mcp-recraft-server (read 2026-11-23). 1,000 units are 1 USD. Images become other images at
   * a path of their own, which asks for a strength.
   */
  recraft: {
    ...openai,
    checkPath: '/v1/users/me',
    size: 'ratio',
    edits: 'none',
    quality: 'never',
    background: null,
    outputFormat: 'image_format',
    billed: 'credits',
    billedPerUsd: 1_000,
    fixed: { n: 1, response_format: 'b64_json' },
  },
  /**
   * docs.byteplus.com/en/docs/ModelArk/1541523 (the request, as clients of September and October quote it) and 1299023
   * (the codes), both read 2026-11-23. Only Seedream 3 has a seed. Seedream 5.0 pro takes neither `stream` nor
   * `sequential_image_generation`, and both are off without a word.
   */
  ark: {
    ...openai,
    generationsPath: '/api/v3/images/generations',
    editsPath: '/api/v3/images/generations',
    checkPath: '/api/v3/models',
    size: 'ark_pixels',
    edits: 'data_uris',
    sourceField: 'image',
    quality: 'never',
    background: null,
    outputFormat: null,
    billed: null,
    fixed: { response_format: 'b64_json', watermark: false },
  },
};
