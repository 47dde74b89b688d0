import type { AwsCall, AwsService } from './aws-call.ts';
import { AwsError } from './aws-error.ts';

/**
 * S3 tells a caller that a key is missing only when that caller may list the bucket. Otherwise it answers 403
 * AccessDenied (API reference of GetObject, "Permissions"). Without this rule, code that expects NoSuchKey
 * but lacks the grant would work locally and fail in the account.
 */
export function hideMissingKeys(service: AwsService, authorize: (call: AwsCall) => void): AwsService {
  return async (call) => {
    try {
      return await service(call);
    } catch (error) {
      if (error instanceof AwsError && error.code === 'NoSuchKey') {
        authorize({ ...call, operation: 'ListObjectsV2', input: { Bucket: call.input.Bucket } });
      }
      throw error;
    }
  };
}
