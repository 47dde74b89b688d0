import { base } from '../service/platform/lambda-base.ts';
import {
  catalog,
  dynamodb,
  originSecrets,
  outbound,
  registration,
  secretBox,
  removeTopic,
  states,
} from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { servePortal } from '../service/portal/http/serve-portal.ts';
import { manageHandlers } from '../service/portal/manage/handlers.ts';
import { openPortalManage } from '../service/portal/manage/open.ts';

export const handler = servePortal(
  'manage',
  manageHandlers,
  atFirstRequest(() =>
    openPortalManage({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      catalog,
      outbound: outbound(),
      secretBox: secretBox(),
      registration,
      removeTopic: removeTopic(),
    }),
  ),
);
