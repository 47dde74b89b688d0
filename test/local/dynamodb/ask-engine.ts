import { AwsError } from '../../../local/aws/aws-error.ts';
import type { TableEngine } from '../../../local/dynamodb/engine.ts';
import type { Json } from './random-values.ts';

/** Performs an operation as it would come over a socket. A refusal has the member `__type`. */
export function askEngine(engine: TableEngine, operation: string, input: Json): Json {
  const overSocket = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
  try {
    return overSocket(engine.perform(operation, overSocket(input)));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return overSocket({ __type: error.code, message: error.message, ...error.fields });
  }
}
