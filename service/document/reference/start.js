// Nothing of this page leaves the browser: no proxy, no telemetry, no fonts and no assistant of the vendor. It
// sends no request to the API either, because a key belongs on a server.
globalThis.Scalar.createApiReference('#reference', {
  url: globalThis.document.getElementById('reference').dataset.document,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hideTestRequestButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  proxyUrl: '',
});
