"""What programs of researchers call, under `/api/v1`: the same surveys, rules and refusals as on the pages, as JSON.

Each operation says once what it takes, what it answers and which role it needs (`operations`); requests are
held to that, and the description that is published is made from it (`openapi`).
"""
