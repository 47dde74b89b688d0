/**
 * Evaluates an alarm as CloudWatch does, as far as the alarms of the stack need it: a metric or a formula of
 * metrics, periods in a row, and the meaning of periods without data.
 */
import type { AlarmProperties, MetricOf } from './alarm-words.ts';

/** The value of a metric in a period of so many seconds. Undefined: no data. */
export type ValueOf = (metric: MetricOf, seconds: number) => number | undefined;

/** Whether the alarm is raised when every period has these values. An alarm that keeps its state is not. */
export function isRaised(alarm: AlarmProperties, valueOf: ValueOf): boolean {
  const value = valueIn(alarm, valueOf);
  if (value === undefined) return alarm.TreatMissingData === 'breaching';
  return comparisons[alarm.ComparisonOperator]?.(value, alarm.Threshold) ?? unknown(alarm.ComparisonOperator);
}

/** The value that the alarm compares with its threshold. */
export function valueIn(alarm: AlarmProperties, valueOf: ValueOf): number | undefined {
  const { Metrics: parts, Period } = alarm;
  if (!parts) return valueOf(alarm, Period ?? 0);
  const known = new Map(
    parts.flatMap(({ Id, MetricStat: stat }): [string, number | undefined][] =>
      stat ? [[Id, valueOf(stat.Metric, stat.Period)]] : [],
    ),
  );
  const formula = parts.find(({ Expression }) => Expression)?.Expression;
  return formula === undefined ? [...known.values()][0] : evaluate(formula, known);
}

const comparisons: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

function unknown(word: string): never {
  throw new Error(`this evaluation does not know ${word}`);
}

type Value = number | undefined;

/**
 * Metric math: numbers, metrics by their ids, + - * / and >, FILL and IF ("Using math expressions with CloudWatch
 * metrics"). An operation with a metric without data has no value.
 */
export function evaluate(formula: string, metrics: ReadonlyMap<string, Value>): Value {
  const words = formula.match(/[A-Za-z]\w*|\d+(?:\.\d+)?|[-+*/>(),]/g) ?? [];
  let at = 0;
  const next = (): string => words[at++] ?? unknown('the end of a formula');
  const take = (word: string): void => {
    const found = next();
    if (found !== word) unknown(`${found} in the place of ${word}`);
  };
  const both = (left: Value, right: Value, compute: (left: number, right: number) => number): Value =>
    left === undefined || right === undefined ? undefined : compute(left, right);

  function comparison(): Value {
    const left = sum();
    if (words[at] !== '>') return left;
    at += 1;
    return both(left, sum(), (one, other) => (one > other ? 1 : 0));
  }
  function sum(): Value {
    let value = product();
    for (let sign = words[at]; sign === '+' || sign === '-'; sign = words[at]) {
      at += 1;
      const factor = sign === '+' ? 1 : -1;
      value = both(value, product(), (one, other) => one + factor * other);
    }
    return value;
  }
  function product(): Value {
    let value = atom();
    for (let sign = words[at]; sign === '*' || sign === '/'; sign = words[at]) {
      at += 1;
      const isProduct = sign === '*';
      value = both(value, atom(), (one, other) => (isProduct ? one * other : one / other));
    }
    return value;
  }
  function atom(): Value {
    const word = next();
    if (word === '(') return closed(comparison());
    if (word === 'FILL' || word === 'IF') return called(word);
    if (/^\d/.test(word)) return Number(word);
    if (!metrics.has(word)) unknown(word);
    return metrics.get(word);
  }
  function closed(value: Value): Value {
    take(')');
    return value;
  }
  function called(name: 'FILL' | 'IF'): Value {
    take('(');
    const first = comparison();
    take(',');
    const second = comparison();
    if (name === 'FILL') return closed(first ?? second);
    take(',');
    const third = closed(comparison());
    return first === undefined ? undefined : first === 0 ? third : second;
  }
  const value = comparison();
  if (at !== words.length) unknown(words.slice(at).join(' '));
  return value;
}
