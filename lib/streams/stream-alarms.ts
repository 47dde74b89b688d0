/** The alarms of the OpenAI-shaped endpoint and of MCP: rows of alarm-table.ts. */
import { fiveMinutes, sumOf, type AlarmDefinition, type Watched } from '../alarm-definition.ts';

export function streamAlarms({
  streaming,
}: Pick<Watched, 'streaming'>): Readonly<Record<string, AlarmDefinition>> {
  return {
    StreamServerErrors: {
      metric: sumOf(
        streaming.apis.map((api) => api.metricServerError(fiveMinutes)),
        '5xx',
      ),
      threshold: 5,
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get answers of 500 and above. Part of them may be images that failed, or that took longer than a request can be held.',
      remedy:
        'Compare with RequestsFailing, HeldRequestsRefused and ProvidersUnavailable; read the access log for the route.',
    },
    HeldRequestsRefused: {
      metric: sumOf(
        streaming.holding.map((fn) => fn.metricThrottles(fiveMinutes)),
        'throttles',
      ),
      threshold: 1,
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get a 503 and repeat the request: as many requests are held as the settings allow. Nothing was charged.',
      remedy:
        'See whether a provider has become slow; else raise the setting heldRequests, and before it the concurrent executions of the account.',
    },
  };
}
