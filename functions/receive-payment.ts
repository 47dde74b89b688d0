import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { openReceivePayment } from '../service/payments/open.ts';
import { receivePayment } from '../service/payments/receive-payment.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb, paymentSystem, states } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(
  () =>
    openReceivePayment({
      ...base(),
      dynamodb: dynamodb(),
      states: states(),
      paymentSystem: paymentSystem(),
    }),
  async (event: APIGatewayProxyEventV2, services) => receivePayment(event, services),
);
