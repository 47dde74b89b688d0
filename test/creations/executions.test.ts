/** The answers of Step Functions, and what the service concludes from them. */
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { creationFromItem, creationToItem } from '../../service/creations/creation-items.ts';
import { createExecutions } from '../../service/creations/executions.ts';
import { aCreation, creationId } from '../fixtures/records.ts';

const arn = 'arn:aws:states:us-east-1:000000000000:stateMachine:creation';
const machines = { plain: arn, callback: `${arn}-callback` };
const creation = aCreation({ resolution: '1K', sources: [] });
const named = (name: string): Error => Object.assign(new Error('said by AWS'), { name });

let states: ReturnType<typeof mockStates>;
const mockStates = () => mockClient(SFNClient);
beforeAll(() => {
  states = mockStates();
});
beforeEach(() => {
  states.reset();
});
afterAll(() => {
  states.restore();
});
const executions = () => createExecutions(new SFNClient({ region: 'us-east-1' }), machines);

describe('The state of an execution', () => {
  it.each([
    ['RUNNING', 'running'],
    ['PENDING_REDRIVE', 'running'],
    ['SUCCEEDED', 'ended'],
    ['FAILED', 'ended'],
    ['TIMED_OUT', 'ended'],
    ['ABORTED', 'ended'],
  ] as const)('An execution with the status %s is %s', async (status, state) => {
    states.on(DescribeExecutionCommand).resolves({ status });
    expect(await executions().state(creation, 1)).toBe(state);
  });

  it('An execution that does not exist is absent; every other error is thrown', async () => {
    states
      .on(DescribeExecutionCommand)
      .rejectsOnce(named('ExecutionDoesNotExist'))
      .rejects(named('ThrottlingException'));
    expect(await executions().state(creation, 1)).toBe('absent');
    await expect(executions().state(creation, 1)).rejects.toThrow('said by AWS');
  });

  it('The state is asked for by the id of the creation and the number of the execution', async () => {
    states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
    await executions().state(creation, 1);
    await executions().state(creation, 3);
    const asked = states
      .commandCalls(DescribeExecutionCommand)
      .map(({ args: [{ input }] }) => input.executionArn);
    const first = `arn:aws:states:us-east-1:000000000000:execution:creation:${creationId}`;
    expect(asked[0]?.startsWith(first)).toBe(true);
    expect(asked[1]).toMatch(new RegExp(`^${first}.*3$`));
    expect(asked[0]).not.toBe(asked[1]);
  });
});

describe('The start of an execution', () => {
  it.each([
    ['ExecutionAlreadyExists', 'started'],
    ['AccessDeniedException', 'refused'],
    ['StateMachineDoesNotExist', 'refused'],
    ['StateMachineDeleting', 'refused'],
    ['InvalidArn', 'refused'],
    ['KmsAccessDeniedException', 'refused'],
    ['KmsInvalidStateException', 'refused'],
    ['ThrottlingException', 'unclear'],
    ['ExecutionLimitExceeded', 'unclear'],
    ['TimeoutError', 'unclear'],
    ['InternalServerError', 'unclear'],
  ] as const)('A start that ends with %s is %s', async (name, outcome) => {
    states.on(StartExecutionCommand).rejects(named(name));
    expect(await executions().start(creation, 1)).toBe(outcome);
  });

  it('A second start sends the same name and the same input, so that it starts nothing', async () => {
    states.on(StartExecutionCommand).resolves({});
    expect([await executions().start(creation, 2), await executions().start(creation, 2)]).toEqual([
      'started',
      'started',
    ]);
    const [first, second] = states.commandCalls(StartExecutionCommand).map(({ args: [{ input }] }) => input);
    expect(first).toEqual(second);
    expect(first).toEqual({
      stateMachineArn: arn,
      name: `${creationId}-2`,
      input: `{"creation_id":"${creationId}","renderer":"#1#","v":1}`,
    });
  });
});

describe('The state machine of a creation', () => {
  const waiting = aCreation({ machine: 'callback' });
  const startedOn = () => states.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input);
  const askedOf = () => states.commandCalls(DescribeExecutionCommand).map(({ args }) => args[0].input);

  it('A creation of the callback machine is started there, under the same name and with the same input', async () => {
    states.on(StartExecutionCommand).resolves({});
    await executions().start(creation, 1);
    await executions().start({ ...creation, machine: 'callback' }, 1);
    await executions().ensure({ ...creation, machine: 'callback' }, 1);
    const [plain, ...others] = startedOn();
    for (const other of others) expect(other).toEqual({ ...plain, stateMachineArn: machines.callback });
    expect(others).toHaveLength(2);
  });

  it('A question about a creation of the callback machine goes there', async () => {
    states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
    await executions().state(waiting, 2);
    expect(askedOf()).toEqual([
      { executionArn: `arn:aws:states:us-east-1:000000000000:execution:creation-callback:${creationId}-2` },
    ]);
  });

  it('A record of an older release names no machine, and belongs to the plain one', async () => {
    states
      .on(StartExecutionCommand)
      .resolves({})
      .on(DescribeExecutionCommand)
      .resolves({ status: 'RUNNING' });
    const { machine: _machine, ...older } = waiting;
    const record = creationFromItem(creationToItem(older));
    expect(record).not.toHaveProperty('machine');
    await executions().ensure(record, 1);
    await executions().state(record, 1);
    expect(startedOn()[0]?.stateMachineArn).toBe(machines.plain);
    expect(askedOf()[0]?.executionArn).toContain(':execution:creation:');
  });

  it('The table keeps the machine of a creation', () => {
    expect(creationFromItem(creationToItem(waiting)).machine).toBe('callback');
  });
});

describe('A call of Step Functions', () => {
  it('Each call carries the signal of the request, and no option without a signal', async () => {
    states.resolves({});
    const { signal } = new AbortController();
    const client = new SFNClient({ region: 'us-east-1' });
    await createExecutions(client, machines, signal).start(creation, 1);
    await createExecutions(client, machines, signal).state(creation, 1);
    await executions().start(creation, 1);
    const options = states.calls().map((call) => (call.args as readonly unknown[])[1]);
    expect(options).toEqual([{ abortSignal: signal }, { abortSignal: signal }, {}]);
  });
});
