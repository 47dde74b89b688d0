/**
 * Unpacks the browser of @sparticuz/chromium. `browsers.ts` copies this file into the folder where the
 * package is installed, and runs it there with TMPDIR set to the folder that gets the browser.
 */
// The package unpacks its system libraries only where it believes to run in Lambda.
process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs24.x';
const { default: chromium } = await import('@sparticuz/chromium');
await chromium.executablePath();
