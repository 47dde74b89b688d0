/** The command `evidence` against the stand-in, in which every assumption about AWS has another answer, too. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EvidenceOptions, gatherEvidence } from '../../admin/evidence/gather.ts';
import { reportOf } from '../../admin/evidence/report.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { type EvidenceAccount, startEvidenceAccount, switches } from './evidence-account.ts';

let account: EvidenceAccount;
beforeAll(async () => {
  account = await startEvidenceAccount(newFolder(afterAll));
  await loseCallback();
}, 120_000);
afterAll(() => account.end());

/** Starts an execution whose task nobody ends: the call of its renderer is lost. */
async function loseCallback(): Promise<void> {
  const { machine } = account.stack;
  const arn = machine.template.outputs['CallbackMachineArn'];
  const input = JSON.stringify({ creation_id: '01a1fea0-a93a-7840-bfe6-881cc580a45e', renderer: '#1#' });
  machine.faults.set({ call: 'states:SendTaskSuccess', error: 'AccessDenied', times: 1 });
  await machine.aws({
    service: 'states',
    operation: 'StartExecution',
    caller: 'operator',
    input: { stateMachineArn: arn, name: 'lost', input },
  });
  const isWaiting = (): boolean =>
    machine.executions
      .find(`${arn?.replace(':stateMachine:', ':execution:')}:lost`)
      ?.history.some(({ type }) => type === 'TaskSubmitted') === true;
  await vi.waitUntil(isWaiting, 60_000);
  await machine.advance(62);
}

const tell = (): void => undefined;
/** A run stops waiting when it has everything. */
const optionsOf = (waitMillis: number): EvidenceOptions => ({
  creations: 2,
  webhookUrl: account.stack.machine.inboxUrl,
  windowMillis: 1_500,
  waitMillis,
});

describe('the evidence of a stack', () => {
  it('An account that behaves as the stand-in is as assumed in every row', async () => {
    account.set([]);
    const rows = await gatherEvidence(account.operator, optionsOf(15_000), tell);
    expect(rows.filter(({ verdict }) => verdict !== 'as assumed')).toEqual([]);
    const accounts = await account.operator.accounts.list();
    expect(accounts.map(({ condition }) => condition)).toEqual(['disabled']);
    // Transitions are two rows, and each other switch is one.
    expect(rows).toHaveLength(switches.length + 1);
  }, 120_000);

  it('A service of one machine is refused before anything is ordered', async () => {
    const { deployed: _deployed, ...operator } = account.operator;
    const before = await account.operator.accounts.list();
    const gathering = gatherEvidence({ ...operator, deployed: undefined }, optionsOf(0), tell);
    await expect(gathering).rejects.toThrow('name a deployed stack with --stack');
    expect(await account.operator.accounts.list()).toEqual(before);
  });

  it('Every other answer of AWS is noticed in its row', async () => {
    account.set(switches);
    const rows = await gatherEvidence(account.operator, optionsOf(4_000), tell);
    expect(rows.filter(({ verdict }) => verdict !== 'differs')).toEqual([]);
    const report = reportOf(rows, new Date('2026-11-26T00:00:00Z'));
    expect(report).not.toMatch(/arn:|\b\d{12}\b|dk_live_|127\.0\.0\.1/);
  }, 120_000);
});
