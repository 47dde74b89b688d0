import type { Question } from '../finding.ts';
import { alarmEmail } from './alarm-email.ts';
import { apiDomain } from './api-domain.ts';
import { bedrockModels, marketplaceRights } from './bedrock.ts';
import { bootstrap } from './bootstrap.ts';
import { certificates } from './certificates.ts';
import { cloudFront } from './cloudfront.ts';
import { deploymentRights } from './deployment-rights.ts';
import { dns } from './dns.ts';
import { gateway } from './gateway.ts';
import { lambdaConcurrency } from './lambda.ts';
import { roles } from './roles.ts';
import { settingsForTraffic } from './settings-for-traffic.ts';
import { stackState } from './stack-state.ts';
import { stepFunctions } from './step-functions.ts';
import { table, tableQuotas } from './table.ts';

/** In the order in which the findings are printed. */
export const allQuestions: readonly Question[] = [
  bootstrap,
  stackState,
  deploymentRights,
  roles,
  lambdaConcurrency,
  stepFunctions,
  tableQuotas,
  table,
  gateway,
  cloudFront,
  certificates,
  apiDomain,
  dns,
  bedrockModels,
  marketplaceRights,
  alarmEmail,
  settingsForTraffic,
];
