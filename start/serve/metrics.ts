/** The figures of a service for others, in the text format of Prometheus. */
import * as z from 'zod';

const emfSchema = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Dimensions: z.array(z.array(z.string())).default([]),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});

/** Upper ends of the buckets of answers, in seconds. */
const buckets = [0.05, 0.2, 1, 5, 30];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const counters = new Map<string, number>();
  const add = (name: string, labels: Readonly<Record<string, string>>, value: number): void => {
    const text = Object.entries(labels)
      .map(([label, of]) => `${label}=${JSON.stringify(of)}`)
      .join(',');
    const key = text === '' ? name : `${name}{${text}}`;
    counters.set(key, (counters.get(key) ?? 0) + value);
  };
  return {
    /** An answer to a client. Unknown paths share one label, so that a stranger cannot make labels. */
    answered: ({ part, status, millis }: { part: string; status: number; millis: number }): void => {
      const labels = { part: knownParts.has(part) ? part : 'other' };
      const seconds = millis / 1000;
      add('darkroom_answers_total', { ...labels, status: String(status) }, 1);
      add('darkroom_answer_seconds_sum', labels, seconds);
      add('darkroom_answer_seconds_count', labels, 1);
      for (const le of [...buckets, Infinity])
        if (seconds <= le)
          add('darkroom_answer_seconds_bucket', { ...labels, le: le === Infinity ? '+Inf' : String(le) }, 1);
    },
    /** The metrics that a line of the functions' log has for CloudWatch, each as a sum and a count. */
    logged: (line: object): void => {
      const { data } = emfSchema.safeParse(line);
      for (const { Metrics, Dimensions } of data?._aws.CloudWatchMetrics ?? [])
        for (const { Name } of Metrics) {
          const named = Dimensions[0] ?? [];
          const labels = Object.fromEntries(named.map((name) => [name, String(data?.[name])]));
          const name = `darkroom_${Name.replace(/\W/g, '_')}`;
          add(
            `${name}_sum`,
            labels,
            [data?.[Name]].flat().reduce<number>((sum, one) => sum + Number(one), 0),
          );
          add(`${name}_count`, labels, [data?.[Name]].flat().length);
        }
    },
    text: (): string => {
      const { rss, heapUsed } = process.memoryUsage();
      const own = new Map([
        ...counters,
        ['process_resident_memory_bytes', rss],
        ['nodejs_heap_used_bytes', heapUsed],
        ['process_cpu_seconds_total', process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6],
        ['process_uptime_seconds', process.uptime()],
      ]);
      return [...own].map(([key, value]) => `${key} ${value}\n`).join('');
    },
  };
}

const knownParts: ReadonlySet<string> = new Set(
  'api openai mcp portal auth _results healthz readyz'.split(' '),
);
