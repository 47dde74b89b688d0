/** The endpoints for webhooks of an account. */
import * as z from 'zod';
import { maxUrlLength } from '../../contract/limits.ts';
import { endpointEvents, mostEndpoints } from '../../webhooks/endpoint.ts';
import { moment } from './values.ts';

const endpointId = z.string().regex(/^we_[0-9A-Za-z]{14}$/);
export const shownEndpointId = endpointId.meta({ description: 'The id of the endpoint.' });

const members = {
  url: z
    .string()
    .max(maxUrlLength)
    .meta({
      description: 'Where the events go, by the rules of `webhook_url`.',
      examples: ['https://example.com/hooks/darkroom'],
    }),
  description: z.string().max(200).meta({ description: 'For people.' }),
  events: z.array(z.enum(endpointEvents)).min(1).meta({
    description: 'The events and the notices that the endpoint gets.',
    uniqueItems: true,
  }),
  enabled: z.boolean().meta({ description: 'Whether the endpoint gets anything.' }),
};

export const endpointRequest = z
  .strictObject({
    url: members.url,
    events: members.events,
    description: members.description.nullish(),
    enabled: members.enabled.nullish().meta({ description: 'The default is true.' }),
  })
  .meta({ id: 'WebhookEndpointRequest', description: 'A new endpoint.' });

export const endpointChange = z
  .strictObject({
    url: members.url.optional(),
    events: members.events.optional(),
    description: members.description.optional(),
    enabled: members.enabled.optional(),
  })
  .meta({ id: 'WebhookEndpointChange', description: 'What changes. Every other member stays.' });

export const endpoint = z
  .object({
    id: endpointId,
    ...members,
    disabled_reason: z.enum(['failing']).nullable().meta({
      description:
        '`failing`: the service switched the endpoint off, because every attempt of five days failed.',
    }),
    created_at: moment('When the endpoint was added.'),
  })
  .meta({ id: 'WebhookEndpoint', description: 'An address that gets events of its account.' });

export const endpointList = z
  .object({ data: z.array(endpoint).max(mostEndpoints).meta({ description: 'The oldest first.' }) })
  .meta({ id: 'WebhookEndpointList', description: 'All endpoints of the account.' });
