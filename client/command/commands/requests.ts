import { Option } from 'commander';
import type { RequestFilter } from '../../src/resources/requests.ts';
import type { LoggedRequest } from '../../src/types/generated.ts';
import { wholeNumber } from '../options.ts';
import type { SessionCommand } from '../session.ts';

const longestPage = 100;

export function addRequestsCommand(program: SessionCommand): void {
  program
    .task('requests', 'the requests of the last seven days, also refused ones')
    .addOption(new Option('--outcome <outcome>', 'only these').choices(['accepted', 'refused']))
    .option('--code <code>', 'only refusals with this code')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 100_000), 20)
    .run(async ({ io, options, output, client }, { limit, ...filter }: RequestsOptions) => {
      const found: LoggedRequest[] = [];
      const list = (await client()).requests.list(
        { ...filter, limit: Math.min(limit, longestPage) },
        { signal: io.signal },
      );
      for await (const request of list) {
        found.push(request);
        if (found.length === limit) break;
      }
      output.list(
        options.json === true ? found.map((one) => ({ ...one })) : found.map(requestRow),
        'No requests.',
      );
    });
}

interface RequestsOptions extends Pick<RequestFilter, 'outcome' | 'code'> {
  readonly limit: number;
}

function requestRow(request: LoggedRequest): Record<string, unknown> {
  const { created_at, outcome, status, door, key, code, reason, field, count } = request;
  return { created_at, outcome, status, door, key, why: field ?? reason ?? code, count };
}
