/** The alarms of the OpenAI-shaped endpoint and of MCP: rows of alarm-table.ts. */
import { fiveMinutes, share, type AlarmDefinition, type Watched } from '../alarm-definition.ts';

export function streamAlarms({
  streaming: { apis, holding },
}: Pick<Watched, 'streaming'>): Readonly<Record<string, AlarmDefinition>> {
  return {
    StreamServerErrors: {
      ...share({
        bad: apis.map((api) => api.metricServerError(fiveMinutes)),
        of: apis.map((api) => api.metricCount({ period: fiveMinutes.period })),
        percent: 2,
        least: 5,
      }),
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get answers of 500 and above. Part of them may be images that failed, or that took longer than a request can be held.',
      remedy:
        'Compare with RequestsFailing, HeldRequestsRefused and ProvidersUnavailable; read the access log for the route.',
    },
    HeldRequestsRefused: {
      ...share({
        bad: holding.map((fn) => fn.metricThrottles(fiveMinutes)),
        of: holding.map((fn) => fn.metricInvocations(fiveMinutes)),
        percent: 1,
        least: 5,
      }),
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get a 503 and repeat the request: as many requests are held as the settings allow. Nothing was charged.',
      remedy:
        'See whether a provider has become slow; else raise the setting heldRequests, and before it the concurrent executions of the account.',
    },
  };
}
