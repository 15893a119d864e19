// pages, forms and links
import http from "k6/http";
import { check } from "k6";
export { handleSummary } from "../data.js";

const { BASE } = __ENV;
export const options = { iterations: 1 };
const PAGE = `<html><head><title>Shop</title></head><body><form action="/sent" method="post"><input name="a" value="1"><input name="b" value="2 3"></form><a href="/one">One</a><a href="/two">Two</a><ul><li>1</li><li class="it">2</li></ul></body></html>`;

export default function () {
  const page = http.post(`${BASE}/page`, PAGE);
  check(page.html(), {
    "the title": (doc) => doc.find("title").text() === "Shop",
    "the list": (doc) => doc.find("li").size() === 2 && doc.find("li.it").text() === "2",
    "the links": (doc) => doc.find("a").map((_, link) => link.attr("href")).join() === "/one,/two",
    "the fields": (doc) => doc.find("form").serialize() === "a=1&b=2+3",
  });
  check(page.submitForm({ fields: { a: "changed" } }), { "the form": ({ body }) => body === "POST /sent a=changed&b=2+3" });
  check(page.clickLink({ selector: "a:nth-child(3)" }), { "the link": ({ body }) => body === "GET /two " });
}
