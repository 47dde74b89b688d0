import { expect, test } from 'vitest';
import { deprecationHeaders } from '../../core/deprecation.ts';

test('a model that stays has no headers of deprecation', () => {
  expect(deprecationHeaders({ deprecated_at: null, sunset_at: null })).toEqual({});
});

test('a model that goes away says since when, until when and where to look, as the RFCs write it', () => {
  expect(deprecationHeaders({ deprecated_at: '2026-12-01', sunset_at: '2027-06-01' })).toEqual({
    deprecation: '@1796083200',
    sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
    link: '</api/public/v1/models>; rel="deprecation"',
  });
});
