/**
 * A page of the web can make a browser send requests to the machine on which it runs (DNS rebinding). On one
 * machine such a request comes from a loopback address. Then its Host and its Origin must be loopback, too. A
 * request from a network needs nothing but its key: no browser adds a key by itself.
 */
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { ApiRequest } from '../../http/request.ts';

const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/** The header by which the request is a stray one. Undefined when it is none. */
export function strayHeader({
  sourceIp,
  headers: { host, origin },
}: Pick<ApiRequest, 'sourceIp' | 'headers'>): 'Host' | 'Origin' | undefined {
  if (!loopback.test(sourceIp)) return undefined;
  if (!validateHostHeader(host, localhostAllowedHostnames()).ok) return 'Host';
  return validateOriginHeader(origin, localhostAllowedOrigins()).ok ? undefined : 'Origin';
}
