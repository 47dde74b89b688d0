import { needsOf } from '../../quotas/quotas.ts';
import { awsDefaultOf, awsDefaults, type AwsQuotaName } from '../../quotas/aws-defaults.ts';
import type { Asked } from '../asked.ts';
import { compared, type Finding, type Question } from '../finding.ts';

/** The names in Service Quotas. */
const names = {
  startExecutionPerSecond: /^StartExecution\b(?!.*express).*refill rate/i,
  startExecutionBurst: /^StartExecution\b(?!.*express).*bucket size/i,
  stateTransitionsPerSecond: /^State ?Transition\b(?!.*express).*refill rate/i,
  stateTransitionsBurst: /^State ?Transition\b(?!.*express).*bucket size/i,
  sendTaskPerSecond: /^SendTaskSuccess\b.*refill rate/i,
  sendTaskBurst: /^SendTaskSuccess\b.*bucket size/i,
} as const satisfies Partial<Record<AwsQuotaName, RegExp>>;

const raise = 'ask AWS for more (Service Quotas, AWS Step Functions)';

export const stepFunctions: Question = {
  title: 'Step Functions: quotas',
  async ask(asked) {
    const wanted = needsOf(asked.traffic);
    const findings: Finding[] = [];
    for (const [name, pattern] of Object.entries(names) as [keyof typeof names, RegExp][]) {
      const { title } = awsDefaults[name];
      const value = await asked.quotas.valueOf('states', pattern);
      findings.push(
        value === undefined
          ? untold(title, awsDefaultOf(name, asked.region), wanted[name])
          : compared(title, value, wanted[name], raise),
      );
      if (name === 'startExecutionPerSecond' && value !== undefined)
        findings.push(startsSetting(asked, value));
    }
    return findings;
  },
};

/** Service Quotas does not have every quota of every service. */
function untold(question: string, documented: number, wanted: number): Finding {
  const enough = documented >= wanted;
  return {
    question,
    level: enough ? 'note' : 'limits',
    found: `not in Service Quotas; AWS documents ${documented}`,
    wanted: `at least ${wanted}`,
    ...(!enough && { fix: raise }),
  };
}

/** The reconciler keeps to the setting. Above the quota, its starts take those of clients. */
function startsSetting({ settings: { startsPerSecond } }: Asked, quota: number): Finding {
  const right = startsPerSecond <= quota;
  return {
    question: 'Setting startsPerSecond',
    level: right ? 'ok' : 'limits',
    found: String(startsPerSecond),
    wanted: `at most ${quota}, the quota of StartExecution`,
    ...(!right && { fix: `startsPerSecond: ${quota}` }),
  };
}
