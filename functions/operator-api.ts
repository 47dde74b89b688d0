import { openOperatorApi } from '../service/operator/open.ts';
import { operatorHandlers } from '../service/operator/handlers.ts';
import { serveOperator } from '../service/operator/serve-operator.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, outbound, providerCosts, secretBox } from '../service/platform/lambda.ts';

export const handler = serveOperator(
  operatorHandlers,
  atFirstRequest(() =>
    openOperatorApi({
      ...base(),
      dynamodb: dynamodb(),
      outbound: outbound(),
      catalog,
      providerCosts,
      secretBox: secretBox(),
    }),
  ),
);
