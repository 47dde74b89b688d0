/**
 * Errors of fal. An error of a model is `detail: [{ type, loc }]`, an error of the platform is `error_type`.
 *
 * @see https://docs.fal.ai/documentation/model-apis/errors and .../request-errors (read 2026-11-21)
 */
import { refusedBy, type RefusalReason, type Refused } from '../../../core/provider.ts';
import { fieldsOf } from '../vendor-json.ts';
import { detailOf, type VendorResponse } from '../vendor-http.ts';

/** Every code outside this table means a failed generation. */
const reasons: Readonly<Record<string, RefusalReason>> = {
  content_policy_violation: 'prompt',
  image_load_error: 'source_image',
  image_too_small: 'source_image',
  image_too_large: 'source_image',
  file_too_large: 'source_image',
  file_download_error: 'source_image',
  unsupported_image_format: 'source_image',
  face_detection_error: 'source_image',
  no_media_generated: 'nothing_rendered',
  generation_timeout: 'timed_out',
  request_timeout: 'timed_out',
  startup_timeout: 'timed_out',
  client_cancelled: 'cancelled',
  downstream_service_unavailable: 'unavailable',
  runner_scheduling_failure: 'unavailable',
};

/** Undefined: the answer holds no code. */
export function refusedByCode(response: VendorResponse): Refused | undefined {
  const { detail, error_type: platformCode } = fieldsOf(response.json);
  const { type: modelCode, loc } = fieldsOf(Array.isArray(detail) ? detail[0] : undefined);
  const code = typeof platformCode === 'string' ? platformCode : modelCode;
  if (typeof code !== 'string') return undefined;
  const reason = Object.hasOwn(reasons, code) ? (reasons[code] ?? 'failed') : 'failed';
  // `loc` names the field that broke the policy, such as ["body", "image_urls", 0].
  const isSources = reason === 'prompt' && Array.isArray(loc) && loc.includes('image_urls');
  return refusedBy(isSources ? 'source_image' : reason, detailOf(response, code));
}
