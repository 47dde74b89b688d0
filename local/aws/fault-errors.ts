import { conflictReason, transactionCanceled, transactionConflict } from '../dynamodb/refusals.ts';
import type { AwsCall, AwsOutput, ServiceName } from './aws-call.ts';
import { AnswerLost, AwsError } from './aws-error.ts';

export const faultErrors = [
  'TransactionConflict',
  'Throttling',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'UnprocessedKeys',
  'AccessDenied',
  'InternalServerError',
  'ServiceUnavailable',
  'ResourceNotFound',
  'StateMachineDoesNotExist',
  'StateMachineDeleting',
  'Timeout',
  'hang',
  'kill',
  'index-lag',
] as const;

/** The operations that DynamoDB refuses because another transaction is in flight. */
export const conflictingOperations: readonly string[] = [
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'TransactWriteItems',
  'TransactGetItems',
];

export type FaultError = (typeof faultErrors)[number];

/** The faults whose answer is an error of the service. */
type AnsweredError = Exclude<
  FaultError,
  'TransactionConflict' | 'UnprocessedKeys' | 'Timeout' | 'hang' | 'kill' | 'index-lag'
>;

interface Wording {
  readonly code: string;
  readonly status: number;
}

const wordingOfError: Readonly<Record<AnsweredError, Wording>> = {
  Throttling: { code: 'ThrottlingException', status: 400 },
  ProvisionedThroughputExceeded: { code: 'ProvisionedThroughputExceededException', status: 400 },
  RequestLimitExceeded: { code: 'RequestLimitExceeded', status: 400 },
  AccessDenied: { code: 'AccessDeniedException', status: 400 },
  InternalServerError: { code: 'InternalServerError', status: 500 },
  ServiceUnavailable: { code: 'ServiceUnavailable', status: 503 },
  ResourceNotFound: { code: 'ResourceNotFoundException', status: 400 },
  StateMachineDoesNotExist: { code: 'StateMachineDoesNotExist', status: 400 },
  StateMachineDeleting: { code: 'StateMachineDeleting', status: 400 },
};

/** The services that use another code for the same error. */
const ownWordingOfService: Readonly<Partial<Record<ServiceName, Partial<Record<AnsweredError, Wording>>>>> = {
  s3: {
    Throttling: { code: 'SlowDown', status: 503 },
    InternalServerError: { code: 'InternalError', status: 500 },
  },
  secretsmanager: { InternalServerError: { code: 'InternalServiceError', status: 500 } },
};

/** The call's answer under the fault, when AWS reports the fault in a normal answer. Otherwise throws. */
export function answerOfFault(
  error: Exclude<FaultError, 'hang' | 'kill' | 'index-lag'>,
  call: AwsCall,
): AwsOutput {
  switch (error) {
    case 'Timeout':
      throw new AnswerLost();
    case 'TransactionConflict':
      throw conflictOf(call);
    case 'UnprocessedKeys':
      return nothingProcessed(call);
    default: {
      const { code, status } = ownWordingOfService[call.service]?.[error] ?? wordingOfError[error];
      throw new AwsError(code, `${error} (a local fault switch)`, { status });
    }
  }
}

function conflictOf(call: AwsCall): AwsError {
  if (!call.operation.startsWith('Transact')) {
    return transactionConflict();
  }
  const items = Array.isArray(call.input.TransactItems) ? call.input.TransactItems : [];
  const reasons = items.map((_item, position) => (position === 0 ? conflictReason : { Code: 'None' }));
  return transactionCanceled(reasons);
}

/** DynamoDB reports no error for a throttled batch. It returns all keys or items as unprocessed. */
function nothingProcessed(call: AwsCall): AwsOutput {
  const { RequestItems } = call.input;
  return call.operation === 'BatchWriteItem'
    ? { UnprocessedItems: RequestItems }
    : { Responses: {}, UnprocessedKeys: RequestItems };
}
