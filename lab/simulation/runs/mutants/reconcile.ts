/** The planted bugs of the reconciler, and of a rollback. */
import type { Mutant } from './plant.ts';

export const reconcile: readonly Mutant[] = [
  {
    name: 'late-is-left-alone',
    file: 'service/reconcile/recover.ts',
    find: 'if (now >= giveUpAt) return',
    replace: 'if (now >= giveUpAt + 3_600_000) return',
  },
  {
    name: 'death-waits-for-the-lease',
    file: 'service/reconcile/reconcile.ts',
    find: '(isOver ? stepAfterEnd : nextStep)(',
    replace: 'nextStep(',
  },
  {
    name: 'open-work-forgotten',
    file: 'service/reconcile/recover.ts',
    find: 'await services.openWork.postpone(creation, dueAt);',
    replace: 'await services.openWork.postpone(creation, undefined);',
  },
  {
    name: 'newer-record-is-recovered',
    file: 'service/reconcile/recover.ts',
    find: 'requireKnownRelease(creation, services);',
    replace: '',
  },
  {
    name: 'start-with-the-version-of-today',
    file: 'service/reconcile/recover.ts',
    find: 'executions.start(creation, number)',
    replace: 'executions.start({ ...creation, v: services.schema.written }, number)',
  },
  {
    name: 'task-of-today',
    file: 'lab/simulation/aws/deployed-service.ts',
    find: 'releases.begin(release)',
    replace: 'releases.begin(releases.current())',
  },
  {
    name: 'opener-with-another-machine',
    file: 'service/reconcile/open.ts',
    find: "on.environment('NOTICE_MACHINE_ARN')",
    replace: "on.environment('STATE_MACHINE_ARN')",
  },
];
