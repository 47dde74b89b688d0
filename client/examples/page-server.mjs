// Serves page.html, and mints a token for its user. The key stays here.
//   DARKROOM_API=… DARKROOM_KEY=dk_live_… PORT=3000 node client/examples/page-server.mjs
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const { DARKROOM_API: api, DARKROOM_KEY: key, PORT = '3000' } = process.env;
const server = createServer(async ({ url }, response) => {
  if (url !== '/my/token') {
    response
      .setHeader('content-type', 'text/html')
      .end(await readFile(new URL('page.html', import.meta.url)));
    return;
  }
  // Your sign-in says who asks. Here everybody is Alice.
  const body = { user: 'alice', spend_limit: 0.2, origins: [`http://localhost:${server.address().port}`] };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const minted = await fetch(`${api}/user-tokens`, { method: 'POST', headers, body: JSON.stringify(body) });
  response.writeHead(minted.status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ ...(await minted.json()), api }));
});
server.listen(Number(PORT), () => console.log(`http://localhost:${server.address().port}/`));
