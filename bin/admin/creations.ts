import type { Command } from 'commander';
import { isTerminal, type CreationRecord } from '../../core/creation.ts';
import { failures } from '../../core/failure.ts';
import { toUsd } from '../../core/money.ts';
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';
import type { OperatorServices } from './services.ts';
import * as values from './values.ts';

const restartGraceMillis = 60_000;

export function addCreationCommands(program: Command, admin: Admin): void {
  const creations = program.command('creations').description('look at one creation, restart it, refund it');
  creations
    .command('show <id>')
    .description('everything that is known of a creation, the providers tried included')
    .action(admin.run(async ({ services, output }, id: string) => output.show(creationRow(await read(services, id)))));
  creations
    .command('restart <id>')
    .description('start its next execution: it goes on where the record says')
    .action(admin.run(async ({ services, output }, id: string) => output.show(await restart(services, await read(services, id)))));
  creations
    .command('refund <id>')
    .description('fail an open creation and give its charge back')
    .action(admin.run(async ({ services, output }, id: string) => output.show(await refund(services, await read(services, id)))));
}

async function read(services: OperatorServices, text: string): Promise<CreationRecord> {
  const creation = await services.creations.read(values.creationId(text));
  if (!creation) throw new OperatorError(`There is no creation ${text}.`);
  return creation;
}

async function restart(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  if (creation.dueAt === undefined) throw new OperatorError(`The creation is ${creation.status} and its webhook settled: there is nothing left to do.`);
  const number = creation.executions + 1;
  const noted = await services.openWork.noteStart(creation, services.clock.now() + restartGraceMillis, number);
  if (!noted) throw new OperatorError('The creation moved on meanwhile: look at it again.');
  const outcome = await services.executions.start(creation.id, number);
  if (outcome !== 'started') throw new OperatorError(`The execution could not be started (${outcome}); the reconciler tries again.`);
  return { id: creation.id, execution: number, outcome };
}

async function refund(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  if (isTerminal(creation.status)) {
    throw new OperatorError(`The creation is ${creation.status} already; give money back with \`wallet adjust ${creation.accountId}\`.`);
  }
  const refund = { failure: 'InternalFailure', nowMillis: services.clock.now(), announce: true } as const;
  const outcome = await services.charges.refund(creation, refund);
  if (outcome === 'busy') throw new OperatorError('The table was too busy; nothing was changed: try again.');
  return creationRow(await read(services, creation.id));
}

function creationRow(creation: CreationRecord): Row {
  return {
    id: creation.id,
    account: creation.accountId,
    key: creation.keyId,
    status: creation.status,
    error: creation.failure === undefined ? null : failures[creation.failure].message,
    model: creation.model,
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    created_at: creation.createdAt,
    started_at: creation.startedAt ?? null,
    completed_at: creation.completedAt ?? null,
    deadline_at: new Date(creation.deadlineAt).toISOString(),
    due_at: creation.dueAt === undefined ? null : new Date(creation.dueAt).toISOString(),
    executions: creation.executions,
    recoveries: creation.recoveries,
    attempts: creation.attempts.map(({ provider, providerModel, quality, startedAt, endedAt, jobId, outcome, detail }) => ({
      provider,
      provider_model: providerModel,
      quality: quality ?? null,
      started_at: startedAt,
      ended_at: endedAt ?? null,
      job_id: jobId ?? null,
      outcome: outcome ?? 'unknown',
      detail: detail ?? null,
    })),
    webhook: creation.webhook
      ? { url: creation.webhook.url, status: creation.webhook.status, attempts: creation.webhook.attempts }
      : null,
    results: creation.results.map((image) => image.key),
  };
}
