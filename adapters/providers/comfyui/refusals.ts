/** Why a server did not take a workflow, and why a workflow failed. */
import type { RefusalReason } from '../../../core/provider.ts';
import type { VendorResponse } from '../vendor-http.ts';
import { entryOf, fieldsOf, listOf, propertyOf } from '../vendor-json.ts';

/**
 * The first error of a node, such as value_not_in_list for a file that the server does not have, or else the error of
 * the whole workflow. Undefined: the answer has neither.
 */
export function codeOfRefusal({ json }: VendorResponse): string | undefined {
  const { error, node_errors: ofNodes } = fieldsOf(json);
  const [first] = Object.values(fieldsOf(ofNodes));
  const code = propertyOf(listOf(propertyOf(first, 'errors'))[0], 'type') ?? propertyOf(error, 'type');
  return typeof code === 'string' ? code : undefined;
}

/**
 * By the class of the exception, without its module. Every other class means that the workflow failed. A server whose
 * memory is full renders nothing, and another route may.
 */
const reasonOfException: Readonly<Partial<Record<string, RefusalReason>>> = {
  OutOfMemoryError: 'unavailable',
  UnidentifiedImageError: 'source_image',
};

export function reasonOf(exception: string): RefusalReason {
  return entryOf(reasonOfException, exception.split('.').at(-1) ?? '') ?? 'failed';
}
