/** The page that shows the OpenAPI document. */
export const referencePath = '/reference';

/**
 * The CloudFront Function of the pages. A path without a dot is a page of the app, so it gets index.html. The
 * text runs in CloudFront's own JavaScript, and on one machine as well.
 */
export const unknownPaths = `function handler(event) {
  var request = event.request;
  if (request.uri === '${referencePath}') request.uri = '${referencePath}.html';
  else if (request.uri.lastIndexOf('.') < request.uri.lastIndexOf('/')) request.uri = '/index.html';
  return request;
}
`;
