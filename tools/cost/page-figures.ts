/** Reads the measured figures from the tables of docs/cost.md. */

/** The figures of one kind of creation, or of one run of the reconciler, that differ from run to run. */
export interface Figures {
  /** CPU time by the function's name. */
  readonly cpuMillis: ReadonlyMap<string, number>;
  /** Undefined when the page has no such figure. */
  readonly logBytes: number | undefined;
  readonly storedBytes: number | undefined;
}

/** The first cells of the rows in which the figures stand. */
export const figureTitles = {
  function: 'Function',
  cpu: 'CPU ms',
  transitions: 'State transitions',
  logBytes: 'Log bytes',
  storedBytes: 'Stored bytes',
  kind: 'Of one',
} as const;

/** The figures by the kind of creation; the key of the reconciler's run is `reconciler`. */
export function figuresOf(page: string): ReadonlyMap<string, Figures> {
  const tables = tablesOf(page).filter((rows) => rows[0]?.[0] === figureTitles.kind);
  const logBytes = new Map(tables.flatMap((rows) => sumsIn(rows, figureTitles.logBytes)));
  const storedBytes = new Map(tables.flatMap((rows) => sumsIn(rows, figureTitles.storedBytes)));
  const cpu = tables.flatMap(cpuIn);
  const kinds = new Set([...logBytes.keys(), ...cpu.map(({ kind }) => kind)]);
  return new Map(
    [...kinds].map((kind) => {
      const own = cpu
        .filter((row) => row.kind === kind)
        .map(({ name, millis }): [string, number] => [name, millis]);
      return [
        kind,
        {
          cpuMillis: new Map(own),
          logBytes: logBytes.get(kind),
          storedBytes: storedBytes.get(kind),
        },
      ];
    }),
  );
}

/** The tables of a page, by their cells. */
export function tablesOf(page: string): string[][][] {
  return page.split('\n\n').map(cellsOf);
}

/** The cells of a table by row. Its second line only aligns the columns. */
function cellsOf(block: string): string[][] {
  return block
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| --'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The table of log bytes and stored bytes has a column for each kind. */
function sumsIn([head = [], ...rows]: string[][], wanted: string): [string, number][] {
  const bytes = rows.find(([title]) => title === wanted);
  return bytes ? head.slice(1).map((kind, index) => [kind, Number(bytes[index + 1])]) : [];
}

/** The table of CPU time has a row for each kind and function. */
function cpuIn([head = [], ...rows]: string[][]): { kind: string; name: string; millis: number }[] {
  const [nameAt, cpuAt] = [head.indexOf(figureTitles.function), head.indexOf(figureTitles.cpu)];
  if (nameAt < 0 || cpuAt < 0) return [];
  return rows.map((row) => ({ kind: row[0] ?? '', name: row[nameAt] ?? '', millis: Number(row[cpuAt]) }));
}
