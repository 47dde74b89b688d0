/** The Lambda function that cancels a creation. It alone may read the keys of the vendors that stop jobs. */
import type { PortalHandlers } from '../http/serve-portal.ts';
import { cancelPortalCreation } from './cancel-portal-creation.ts';
import type { PortalCancelServices } from './open-cancel.ts';

export const cancelHandlers: PortalHandlers<'cancel', PortalCancelServices> = { cancelPortalCreation };
