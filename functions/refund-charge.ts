import { openRefund } from '../service/creations/open-refund.ts';
import { refundCharge } from '../service/creations/refund-creation.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(() => openRefund({ ...base(), dynamodb: dynamodb() }), refundCharge);
