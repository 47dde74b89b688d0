import type { Item } from '../attributes.ts';
import type { Test } from '../expressions/condition.ts';
import { checkRequirements, type KeyRequirement } from '../expressions/key-condition.ts';
import type { Values } from '../expressions/placeholders.ts';
import { type Prepared, readExpressions } from '../expressions/prepared.ts';
import { invalid } from '../refusals.ts';
import type { KeySchema } from '../rows.ts';
import type { Table, TableIndex } from '../table.ts';
import { flagOf, type Input, numberOf, textOf } from '../validation/values.ts';
import { requireScalarKeys } from './single-items.ts';

export interface Reading {
  readonly table: Table;
  readonly index: TableIndex | undefined;
  readonly key: KeySchema;
  readonly limit: number;
  readonly filter: Prepared<Test> | undefined;
  readonly project: ((item: Item) => Item) | undefined;
  readonly values: Values;
  readonly isCount: boolean;
}

const ofScan = ['FilterExpression', 'ProjectionExpression'] as const;
const ofQuery = [...ofScan, 'KeyConditionExpression'] as const;

/** Reads a request, with what it requires of the key. Throws ValidationException. */
export function readReading(
  operation: 'Query' | 'Scan',
  table: Table,
  input: Input,
): { readonly reading: Reading; readonly requirements: readonly KeyRequirement[] } {
  const isQuery = operation === 'Query';
  const index = indexOf(table, input);
  const limit = numberOf(input, 'Limit') ?? Number.POSITIVE_INFINITY;
  if (limit < 1) throw invalid('Limit must be greater than or equal to 1');
  const isConsistent = flagOf(input, 'ConsistentRead');
  const {
    values,
    FilterExpression: filter,
    ProjectionExpression: project,
    KeyConditionExpression: keys,
  } = readExpressions<(typeof ofQuery)[number]>(input, isQuery ? ofQuery : ofScan);
  if (index !== undefined && isConsistent)
    throw invalid(`Consistent read cannot be true when ${isQuery ? 'querying' : 'scanning'} a GSI`);
  const key = index?.key ?? table.key;
  if (project !== undefined) requireScalarKeys(project, [...table.key.names, ...key.names]);
  const requirements = keys?.result ?? [];
  if (keys !== undefined) checkRequirements(key, requirements, values);
  const isCount = select(input, index, project !== undefined);
  if (isQuery && filter !== undefined) {
    const primary = filter.heads.find((name) => key.names.includes(name));
    if (primary !== undefined)
      throw invalid(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${primary}`,
      );
  }
  checkProjected(index, isQuery ? filter : undefined, project);
  const reading = { table, index, key, limit, filter, values, isCount, project: project?.result };
  return { requirements, reading };
}

function indexOf(table: Table, input: Input): TableIndex | undefined {
  const name = textOf(input, 'IndexName');
  if (name === undefined) return undefined;
  const index = table.indexes.get(name);
  if (index === undefined) throw invalid(`The table does not have the specified index: ${name}`);
  return index;
}

/** Whether only the count is wanted. Throws ValidationException for a Select that does not fit. */
function select(input: Input, index: TableIndex | undefined, hasProjection: boolean): boolean {
  const wanted = textOf(input, 'Select');
  switch (wanted) {
    case undefined:
      return false;
    case 'COUNT':
      if (hasProjection)
        throw invalid('Cannot specify the ProjectionExpression when choosing to get only the Count');
      return true;
    case 'SPECIFIC_ATTRIBUTES':
      if (!hasProjection)
        throw invalid(
          'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
        );
      return false;
    case 'ALL_PROJECTED_ATTRIBUTES':
      if (index === undefined)
        throw invalid('ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
      if (hasProjection) throw projectionWith(wanted);
      return false;
    case 'ALL_ATTRIBUTES':
      if (hasProjection) throw projectionWith(wanted);
      if (index?.attributes !== undefined)
        throw invalid(
          `One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.definition.IndexName} because its projection type is not ALL`,
        );
      return false;
    default:
      throw invalid('Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES');
  }
}

function projectionWith(wanted: string): Error {
  return invalid(`Cannot specify the ProjectionExpression when choosing to get ${wanted}`);
}

function checkProjected(
  index: TableIndex | undefined,
  filter: Prepared<unknown> | undefined,
  project: Prepared<unknown> | undefined,
): void {
  const { attributes } = index ?? {};
  if (index === undefined || attributes === undefined) return;
  const name = index.definition.IndexName;
  const require = (prepared: Prepared<unknown> | undefined, words: string): void => {
    const missing = (prepared?.heads ?? []).filter((head) => !attributes.includes(head));
    if (missing.length > 0)
      throw invalid(`One or more parameter values were invalid: ${words} [${missing.join(', ')}]`);
  };
  require(filter, `Secondary index ${name} does not project one or more filter attributes:`);
  require(project, `Global secondary index ${name} does not project`);
}
