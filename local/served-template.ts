import { resultsPath } from './gateway/results.ts';
import type { LocalTemplate } from './template.ts';

/**
 * The template as this server serves it. The results have this server's address in place of the
 * distribution's, and the environment variables have the values of the person who starts the service.
 */
export function servedUnder(
  url: string,
  template: LocalTemplate,
  overrides: Readonly<Record<string, string>>,
): LocalTemplate {
  const [distribution, another] = template.distributions;
  if (another !== undefined) throw new Error(`distribution ${another.id}: only one is served on one machine`);
  const results = `${url}${resultsPath.slice(0, -1)}`;
  const withLocalResults = (value: string): string =>
    (distribution?.domains ?? []).reduce(
      (text, domain) => text.replaceAll(`https://${domain}`, results),
      value,
    );
  const valueOf = (name: string, value: string): string =>
    overrides[name]?.replaceAll('{origin}', url) ?? withLocalResults(value);
  return {
    ...template,
    functions: template.functions.map((one) => ({
      ...one,
      environment: mapValues(one.environment, valueOf),
    })),
    outputs: mapValues(template.outputs, (_name, value) => withLocalResults(value)),
  };
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
