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
        'Customers of the OpenAI-shaped endpoint or of MCP get answers of 500 and above. Some may be images that failed, or that took longer than 285 s: such a client gets 504, and its next try gets the image without a second charge.',
      remedy:
        'Compare with RequestsFailing, HeldRequestsRefused and ProvidersUnavailable. If none is raised, read the access log. Many 504 mean a slow provider. Many 503 with integrationError mean that a function died or timed out.',
    },
    HeldRequestsRefused: {
      ...share({
        bad: holding.map((fn) => fn.metricThrottles(fiveMinutes)),
        of: holding.map((fn) => fn.metricInvocations(fiveMinutes)),
        percent: 1,
        least: 5,
      }),
      meaning:
        'Customers of the OpenAI-shaped endpoint or of MCP get a 503 with Retry-After, because as many requests are held as the setting heldRequests allows. Nothing was charged.',
      remedy:
        'See on the dashboard whether a provider has become slow. Otherwise raise heldRequests. If fewer than 100 executions would be left unreserved, ask AWS for more before.',
    },
  };
}
